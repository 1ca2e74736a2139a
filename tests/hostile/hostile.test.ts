import fs from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { isReady } from '../../deploy/local/processes/process.ts';
import { readRecords, readRunning } from '../../deploy/local/state.ts';
import { startTrialSystem, type TrialSystem } from '../../deploy/local/testing/trial-system.ts';
import { type Row, requestsOf, SMUGGLED_ID } from './cases.ts';
import { type Exchange, exchange } from './exchange.ts';
import { permittedOutcomes } from './outcomes.ts';
import { type Target, targetsOf } from './targets.ts';
import { TOPICS } from './topics.ts';

/** Has the same form for every target: only its titles and sources are used. */
const SAMPLE = requestsOf({ path: '/api/v2/users?limit=1', collection: '/api/v1/users' });

let system: TrialSystem;
let targets: Target[];

beforeAll(async () => {
  system = await startTrialSystem();
  targets = targetsOf(system);
});

afterAll(() => system.stop());

describe.each(Object.entries(TOPICS))('%s', (_, rowsOf) => {
  const rows = rowsOf(SAMPLE).map(([title, source], index) => [title, source, index] as const);

  test.each(rows)('%s (%s)', async (_title, _source, index) => {
    const attacks = targets.map((target) => {
      const row = rowsOf(requestsOf(target))[index];
      if (!row) throw new Error(`Cannot find row ${index}`);
      return attack(target, row);
    });

    await Promise.all(attacks);

    await expectHealthy();
  });
});

test('the table has at least 500 requests, each with a source and a unique title', () => {
  const rows = Object.entries(TOPICS).flatMap(([topic, rowsOf]) =>
    rowsOf(SAMPLE).map(([title, source]) => ({ title: `${topic}: ${title}`, source })),
  );

  expect(rows.length).toBeGreaterThanOrEqual(500);
  expect(rows.filter(({ source }) => source === '')).toEqual([]);
  expect(new Set(rows.map(({ title }) => title)).size).toBe(rows.length);
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
  const [, , bytes] = row;
  const { port, path: valid } = target;
  const isCut = typeof bytes !== 'string';
  const sent = isCut ? bytes.cut : bytes;

  const received = await exchange({ port, bytes: sent, isCut, path: valid });

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
      title: expect.any(String),
      code: expect.any(String),
      requestId: headers.get('x-request-id'),
    });
  }
}

/** The same processes run, all are ready, and serve a valid request on a new connection. */
async function expectHealthy(): Promise<void> {
  const records = readRecords(system.folders.run);
  expect(readRunning(system.folders.run)).toEqual(records);
  expect(await Promise.all(records.map((record) => isReady(record)))).not.toContain(false);
  await Promise.all(
    targets.map(async ({ name, port, path: valid, ok }) => {
      const response = await fetch(`http://127.0.0.1:${port}${valid}`);
      await response.arrayBuffer();
      expect(response.status, name).toBe(ok);
    }),
  );
}
