import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { describeStores, keepStores, keptStores, readStores } from './stores.ts';

function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-stores-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

test('the stores are those that the environment names, and empty names none', () => {
  const env = { DATABASE_URL: 'postgres://h/fw', REDIS_URL: '', HOME: '/root' };

  expect(readStores(env)).toEqual({ DATABASE_URL: 'postgres://h/fw' });
  expect(readStores({})).toEqual({});
});

test('the stores of a running system are found again, by its owner only', () => {
  const run = path.join(temporaryFolder(), 'run');
  const stores = { DATABASE_URL: 'postgres://fw:secret@h/fw', REDIS_URL: 'redis://h:6379' };
  keepStores(run, {});

  keepStores(run, stores);

  expect(keptStores(run)).toEqual(stores);
  expect(fs.readdirSync(run)).toEqual(['stores.json']);
  expect(fs.statSync(path.join(run, 'stores.json')).mode & 0o777).toBe(0o600);
});

test('where nothing runs no store is kept', () => {
  expect(keptStores(path.join(temporaryFolder(), 'absent'))).toEqual({});
});

test.each([
  [{}, 'data in SQLite (DATABASE_URL: PostgreSQL), rate limits in memory (REDIS_URL: Redis)'],
  [
    { DATABASE_URL: 'postgres://fw:secret@db:5432/fw', REDIS_URL: 'redis://:secret@cache:6379' },
    'data in PostgreSQL at db:5432/fw, rate limits in Redis at cache:6379',
  ],
  [
    { DATABASE_URL: 'postgres://fw:sec ret@[' },
    'data in PostgreSQL at an address that cannot be read, rate limits in memory (REDIS_URL: Redis)',
  ],
])('%j is told without its password', (stores, words) => {
  expect(describeStores(stores)).toBe(words);
});
