import { parseArgs } from 'node:util';

import { type Check, check, runChecks } from './check.ts';
import { catalogChecks } from './contract/catalog.ts';
import { reportsChecks } from './contract/reports.ts';
import { rulesChecks } from './contract/rules.ts';
import { usersChecks } from './contract/users.ts';
import { folders } from './state.ts';
import { localTarget, type Target, targetAt } from './target.ts';

/** All that version 1 promises, one row of the specification after another, over HTTP. */
export const contractChecks: readonly Check<Target>[] = [
  ...[...usersChecks, ...catalogChecks, ...rulesChecks].map(({ title, run }) =>
    check<Target>(title, ({ api }) => run(api)),
  ),
  ...reportsChecks,
];

/**
 * `node contract.ts --base https://host --token A --token B` holds the system at an address to
 * version 1, with bearer tokens of as many users of reports; without any, the local one.
 */
if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      base: { type: 'string', default: 'http://localhost:8080' },
      token: { type: 'string', multiple: true, default: [] },
    },
  });
  const target =
    values.token.length > 0
      ? targetAt(values.base, values.token)
      : localTarget(values.base, folders.run);
  process.exitCode = (await runChecks(contractChecks, target)) === 0 ? 0 : 1;
}
