import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { readParts } from '../../deploy/local/cluster/platform.ts';
import { type ClusterRecord, clusterOf, readCluster } from '../../deploy/local/cluster/record.ts';
import { isReady } from '../../deploy/local/processes/process.ts';
import { folders, readRunning } from '../../deploy/local/state.ts';
import type { Api } from '../contract/api.ts';
import { type Check, check, runChecks } from '../contract/check.ts';
import { contractChecks } from '../contract/contract.ts';
import { localTarget, type Target } from '../contract/target.ts';
import { catalogChecks } from './catalog.ts';
import { edgeChecks } from './edge.ts';
import { reportsChecks } from './reports.ts';
import { usersChecks } from './users.ts';

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

async function everyPartIsReady(cluster: ClusterRecord): Promise<void> {
  const parts = await readParts(clusterOf(folders.run, AbortSignal.timeout(30_000)), cluster);
  const missing = parts.filter(({ settled }) => !settled).map(({ name }) => name);
  assert.deepEqual(missing, []);
  assert.ok(parts.length > 0, 'there are parts');
}

async function everyProcessIsReady(): Promise<void> {
  const running = readRunning(folders.run);
  for (const record of running) assert.ok(await isReady(record), `${record.name} is not ready`);
  assert.equal(running.length, 6);
}

/** Runs a command as a reader types it, on this system's address; gives what it prints. */
async function type(command: string, { api }: Target): Promise<string> {
  const here = command.replaceAll('http://localhost:8080', api.origin);
  const { stdout } = await run('bash', ['-c', here.replace('curl', 'curl --silent --show-error')], {
    cwd: folders.root,
  });
  return stdout;
}

async function readmeLines(target: Target): Promise<void> {
  const readme = fs.readFileSync(path.join(folders.root, 'README.md'), 'utf8');
  const lines = readme.split('\n').filter((line) => line.startsWith('curl '));
  assert.ok(lines.length > 0, 'the README shows lines to type');
  for (const line of lines) {
    const { data } = JSON.parse(await type(line.replace('curl', 'curl --fail'), target));
    assert.ok(data, `${line} answers data`);
    if (line.includes('POST')) await target.api.send('DELETE', `/api/v1/users/${data.id}`);
  }
}

async function pageLines(target: Target): Promise<void> {
  const page = await (await target.api.get('/')).text();
  const lines = [...page.matchAll(/<pre><code>(.*?)<\/code>/gs)].map(([, html = '']) =>
    html.replace(/<\/?b>/g, '').replaceAll('&amp;', '&'),
  );
  const [create = '', search = '', report = '', mistake = ''] = lines;

  const created = await type(create, target);
  assert.match(created, /^HTTP\/1\.1 201 /);
  await target.api.send('DELETE', /^location: (.+)\r$/im.exec(created)?.[1] ?? '');
  assert.equal(JSON.parse(await type(search, target)).data.length, 3);
  assert.match(await type(report, target), /^date,users\r\n/);
  assert.match(await type(mistake, target), /^HTTP\/1\.1 400 /);
}

if (import.meta.main) {
  const cluster = readCluster(folders.run);
  const edge = readRunning(folders.run).find(({ name }) => name === 'edge');
  const address = cluster?.address ?? edge?.address;
  if (!address) {
    console.error('Nothing is running: start it with "make up"');
    process.exit(1);
  }
  const target = localTarget(address.replace('localhost', '127.0.0.1'), folders.run);
  const checks: readonly Check<Target>[] = [
    ...(cluster ? [check<Target>('every pod is ready', () => everyPartIsReady(cluster))] : []),
    ...outsideChecks,
    check('the lines of the README answer as they are typed', readmeLines),
    check('the lines of the page answer as they are copied', pageLines),
    ...(cluster ? [] : [check<Target>('every process is ready', everyProcessIsReady)]),
  ];
  process.exitCode = (await runChecks(checks, target)) === 0 ? 0 : 1;
}
