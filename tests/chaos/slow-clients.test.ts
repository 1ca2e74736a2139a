import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { readRunning } from '../../deploy/local/state.ts';
import { markdownTable } from '../../deploy/local/testing/markdown.ts';
import { startTrialSystem, type TrialSystem } from '../../deploy/local/testing/trial-system.ts';
import { createUsers } from './create-users.ts';
import { FULL, writeResultsOf } from './results.ts';
import { type Attack, type AttackResult, KINDS, type Kind } from './slow-clients/attack.ts';
import { type Statuses, whileServing } from './slow-clients/normal-clients.ts';

const PROGRAM = path.resolve(import.meta.dirname, 'slow-clients/attack.ts');

/** Slow connections by kind. For each reader, the service writes megabytes into the buffers of the system. */
const { connections: CONNECTIONS, openingMs } = FULL
  ? { connections: { head: 1_950, body: 1_950, response: 100 }, openingMs: 20_000 }
  : { connections: { head: 200, body: 200, response: 20 }, openingMs: 4_000 };

/** The list is larger than the buffers of the operating system: it ends only if the client reads it. */
const USERS = 40_000;

let system: TrialSystem;
beforeAll(async () => {
  system = await startTrialSystem();
  await createUsers(system.origin, { count: USERS });
}, 300_000);
afterAll(() => system?.stop());

type Target = Pick<Attack, 'port' | 'periodMs' | 'patienceMs'>;

/** Runs an attack of each kind at the same time, each in its own process. */
function attackWith(kinds: readonly Kind[], target: Target): Promise<AttackResult[]> {
  return Promise.all(
    kinds.map(async (kind) => {
      const connections = CONNECTIONS[kind];
      const attack: Attack = { ...target, kind, connections, openingMs, path: '/api/v1/users' };
      const args = [PROGRAM, JSON.stringify(attack)];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      return JSON.parse(stdout) as AttackResult;
    }),
  );
}

const rows: string[][] = [];

function report(
  where: string,
  period: string,
  results: readonly AttackResult[],
  statuses: Statuses,
) {
  const served = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  for (const { kind, connections, open, longestMs } of results) {
    const closed = open > 0 ? `${open} stay open` : `${(longestMs / 1_000).toFixed(0)} s`;
    rows.push([where, kind, period, String(connections), closed, served.join(', ')]);
  }
}

writeResultsOf(3, 'slow-clients', () =>
  markdownTable(
    ['where', 'slow part', 'one byte every', 'connections', 'closed after', 'other clients'],
    rows,
  ),
);

test('a service closes slow connections within 60 s and serves all other clients', async () => {
  const users = readRunning(system.folders.run).find(({ name }) => name === 'users-1');
  const { address = '' } = users ?? {};
  const port = Number(new URL(address).port);

  const { result, statuses } = await whileServing(
    [`${address}/api/v2/users?limit=10`, `${address}/api/v2/users?limit=1`],
    attackWith(KINDS, { port, periodMs: 2_000, patienceMs: 90_000 }),
  );

  report('service', '2 s', result, statuses);
  expect(Object.keys(statuses)).toEqual(['200']);
  for (const each of result) expect(each).toMatchObject({ open: 0 });
  expect(Math.max(...result.map(({ longestMs }) => longestMs))).toBeLessThan(60_000);
}, 300_000);

test('the edge closes slow connections within 15 s and serves all other clients', async () => {
  const { origin, port } = system;

  const { result, statuses } = await whileServing(
    [`${origin}/api/v2/users?limit=10`, `${origin}/api/v2/catalog?limit=10`],
    attackWith(KINDS, { port, periodMs: 12_000, patienceMs: 60_000 }),
  );

  report('edge', '12 s', result, statuses);
  expect(Object.keys(statuses)).toEqual(['200']);
  for (const each of result) expect(each).toMatchObject({ open: 0 });
  expect(Math.max(...result.map(({ longestMs }) => longestMs))).toBeLessThan(15_000);
}, 300_000);

test('bodies that arrive faster than that occupy only connections of the edge', async () => {
  const { origin, port, folders } = system;

  const { result, statuses } = await whileServing(
    [`${origin}/api/v2/users?limit=10`, `${origin}/api/v2/catalog?limit=10`],
    attackWith(['body'], { port, periodMs: 2_000, patienceMs: openingMs + 20_000 }),
  );

  report('edge', '2 s', result, statuses);
  expect(Object.keys(statuses)).toEqual(['200']);
  const log = fs.readFileSync(path.join(folders.logs, 'users-1.log'), 'utf8');
  expect(log).not.toContain('"method":"POST","route":"/api/v1/users","status":408');
}, 300_000);
