import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { folders } from '../../deploy/local/state.ts';
import { secretFile } from '../../deploy/local/token.ts';
import { catalogChecks } from './catalog.ts';
import { type Check, check, runChecks } from './check.ts';
import { reportsChecks } from './reports.ts';
import { rulesChecks } from './rules.ts';
import { localTarget, type Target, targetAt } from './target.ts';
import { usersChecks } from './users.ts';

/** All that version 1 promises, one row of the specification after another, over HTTP. */
export const contractChecks: readonly Check<Target>[] = [
  ...[...usersChecks, ...catalogChecks, ...rulesChecks].map(({ title, run }) =>
    check<Target>(title, ({ api }) => run(api)),
  ),
  ...reportsChecks,
];

/** The system to hold against the contract: with tokens of its own, or the local one. */
function readTarget(base: string, tokens: readonly string[]): Target {
  if (tokens.length === 1) throw new Error('--token is there once: expected those of two users');
  if (tokens.length > 1) return targetAt(base, tokens);
  if (!fs.existsSync(secretFile(folders.run))) {
    throw new Error('--token is missing: nothing runs here that a token could be made for');
  }
  return localTarget(base, folders.run);
}

/** Without this, a mistyped address would fail each check by itself. */
async function requireAnswer({ api }: Target): Promise<void> {
  try {
    await api.get('/');
  } catch (error) {
    const { cause = error } = error instanceof Error ? error : {};
    throw new Error(
      `Cannot reach ${api.origin}: ${cause instanceof Error ? cause.message : cause}`,
    );
  }
}

/**
 * `node contract.ts --base https://host --token A --token B` holds the system at an address to
 * version 1, with bearer tokens of two users of reports; without any, the local one.
 */
if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      base: { type: 'string', default: 'http://localhost:8080' },
      token: { type: 'string', multiple: true, default: [] },
    },
  });
  try {
    const target = readTarget(values.base, values.token);
    await requireAnswer(target);
    process.exitCode = (await runChecks(contractChecks, target)) === 0 ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  }
}
