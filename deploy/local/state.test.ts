import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProcessRecord } from './processes/process.ts';
import { processIdentity } from './processes/process.ts';
import { readRecords, readRunning, writeRecords } from './state.ts';

let run: string;

beforeEach(() => {
  run = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-state-'));
});

afterEach(() => {
  fs.rmSync(run, { recursive: true });
});

function recordOf(overrides: Partial<ProcessRecord> = {}): ProcessRecord {
  return {
    name: 'users-1',
    pid: process.pid,
    identity: processIdentity(process.pid) ?? '',
    address: 'http://127.0.0.1:8081',
    readyUrl: 'http://127.0.0.1:9081/readyz',
    ports: [8081, 9081],
    fingerprint: 'f',
    ...overrides,
  };
}

test('readRecords returns the written records, and no draft remains', () => {
  writeRecords(run, [recordOf()]);

  expect(readRecords(run)).toEqual([recordOf()]);
  expect(fs.readdirSync(run)).toEqual(['state.json']);
});

test('without records no process runs', () => {
  expect(readRunning(path.join(run, 'absent'))).toEqual([]);
});

test('readRunning omits a process that has ended', () => {
  const ended = recordOf({ name: 'users-2', identity: 'an earlier process' });
  writeRecords(run, [recordOf(), ended]);

  expect(readRunning(run).map(({ name }) => name)).toEqual(['users-1']);
});

test.each([
  ['a process group', { pid: -1 }],
  ['process 1', { pid: 1 }],
  ['a fraction', { pid: 1.5 }],
])('readRecords omits a record whose id is %s', (_, overrides) => {
  writeRecords(run, [recordOf(overrides)]);

  expect(readRecords(run)).toEqual([]);
});
