import fs from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { isReady } from '../../deploy/local/processes/process.ts';
import { readRecords, readRunning } from '../../deploy/local/state.ts';
import { startTrialSystem, type TrialSystem } from '../../deploy/local/testing/trial-system.ts';
import { problemOfStatus } from '../../framework/core/src/response/problem.ts';
import { type Exchange, exchange } from './exchange.ts';
import { bytesOf, permittedOutcomes, type Row, SMUGGLED_ID, TOPICS } from './table.ts';
import { type Target, targetsOf } from './targets.ts';

let system: TrialSystem;
let targets: Target[];

beforeAll(async () => {
  system = await startTrialSystem();
  targets = targetsOf(system);
});

afterAll(() => system.stop());

describe.each(Object.entries(TOPICS))('%s', (_, rows) => {
  test.each(rows.map((row) => ({ title: row[0], source: row[1], row })))(
    '$title ($source)',
    async ({ row }) => {
      await Promise.all(targets.map((target) => attack(target, row)));

      await expectHealthy();
    },
  );
});

test('no hidden request reached a service', () => {
  const logs = fs.globSync(path.join(system.folders.logs, '*.log'));
  const lines = logs.flatMap((file) => fs.readFileSync(file, 'utf8').split('\n'));

  expect(lines.length).toBeGreaterThan(1_000);
  expect(lines.filter((line) => line.includes(`"requestId":"${SMUGGLED_ID}"`))).toEqual([]);
});

test('no service logged an error', () => {
  const logs = fs.globSync(path.join(system.folders.logs, '*-[0-9].log'));
  const lines = logs.flatMap((file) => fs.readFileSync(file, 'utf8').split('\n'));

  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

async function attack(target: Target, row: Row): Promise<void> {
  const { port, path: valid } = target;

  const received = await exchange({ port, ...bytesOf(row, target), path: valid });

  expect(permittedOutcomes(row, target), target.name).toContain(received.outcome);
  expectProblems(received, target);
}

/** Every error is a problem with its own status (RFC 9457). */
function expectProblems({ responses }: Exchange, { name }: Target): void {
  for (const { status, headers, body } of responses) {
    if (status < 400 || body === '') continue;
    expect(headers.get('content-type'), name).toBe('application/problem+json');
    expect(JSON.parse(body), name).toMatchObject({
      status,
      type: 'about:blank',
      title: problemOfStatus(status).title,
      code: expect.any(String),
      requestId: headers.get('x-request-id'),
    });
  }
}

/** The same processes run, all are ready, and serve a valid request on a new connection. */
async function expectHealthy(): Promise<void> {
  const records = readRecords(system.folders.run);
  expect(readRunning(system.folders.run)).toEqual(records);
  // A probe takes longer than its second on a busy machine.
  await expect.poll(() => Promise.all(records.map(isReady))).not.toContain(false);
  await Promise.all(
    targets.map(async ({ name, port, path: valid, ok }) => {
      const response = await fetch(`http://127.0.0.1:${port}${valid}`);
      await response.arrayBuffer();
      expect(response.status, name).toBe(ok);
    }),
  );
}
