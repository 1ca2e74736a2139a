import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import type { Api } from './api.ts';
import { type Check, check, runChecks } from './check.ts';
import { contractChecks } from './contract.ts';
import { isReady } from './process.ts';
import { catalogChecks } from './smoke/catalog.ts';
import { edgeChecks } from './smoke/edge.ts';
import { replaceUnderTraffic } from './smoke/replace.ts';
import { reportsChecks } from './smoke/reports.ts';
import { usersChecks } from './smoke/users.ts';
import { folders, readRunning } from './state.ts';
import { localTarget, type Target } from './target.ts';

const run = promisify(execFile);

/** All that can be asked of a system from outside: version 1, version 2, and what lies between. */
export const outsideChecks: readonly Check<Target>[] = [
  ...contractChecks,
  ...[...usersChecks, ...catalogChecks, ...edgeChecks].map((one) => ofApi(one)),
  ...reportsChecks,
];

function ofApi({ title, run }: Check<Api>): Check<Target> {
  return check(title, ({ api }) => run(api));
}

async function everyProcessIsReady(): Promise<void> {
  const running = readRunning(folders.run);
  for (const record of running) assert.ok(await isReady(record), `${record.name} is not ready`);
  assert.equal(running.length, 6);
}

/** Each line that the README shows to type, as a reader types it, on this system's port. */
async function readmeLines({ api }: Target): Promise<void> {
  const readme = fs.readFileSync(path.join(folders.root, 'README.md'), 'utf8');
  const lines = readme.split('\n').filter((line) => line.startsWith('curl '));
  assert.ok(lines.length > 0, 'the README shows lines to type');
  for (const line of lines) {
    const command = line
      .replace('curl', 'curl --fail --silent --show-error')
      .replaceAll('http://localhost:8080', api.origin);
    const { stdout } = await run('bash', ['-c', command], { cwd: folders.root });
    if (line.includes('POST')) {
      await api.send('DELETE', `/api/v1/users/${JSON.parse(stdout).data.id}`);
    }
  }
}

if (import.meta.main) {
  const edge = readRunning(folders.run).find(({ name }) => name === 'edge');
  if (!edge) {
    console.error('Nothing is running: start it with "make up"');
    process.exit(1);
  }
  const target = localTarget(edge.address.replace('localhost', '127.0.0.1'), folders.run);
  const checks: readonly Check<Target>[] = [
    check('every process is ready', everyProcessIsReady),
    ...outsideChecks,
    check('the lines of the README answer', readmeLines),
    check('a replica that is replaced under traffic loses no request', ({ api }) =>
      replaceUnderTraffic(api, folders),
    ),
  ];
  process.exitCode = (await runChecks(checks, target)) === 0 ? 0 : 1;
}
