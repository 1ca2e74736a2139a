import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';
import { freePort, listenAnywhere } from '../testing/ports.ts';
import { describeStores, keepStores, keptStores, readStores, requireReachable } from './stores.ts';

function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-stores-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

test('readStores reads the stores from the environment; an empty variable counts as unset', () => {
  const env = { DATABASE_URL: 'postgres://h/fw', REDIS_URL: '', HOME: '/root' };

  expect(readStores(env)).toEqual({ DATABASE_URL: 'postgres://h/fw' });
  expect(readStores({})).toEqual({});
});

test('the stores of the running system are recorded, readable only for the owner', () => {
  const run = path.join(temporaryFolder(), 'run');
  const stores = { DATABASE_URL: 'postgres://fw:secret@h/fw', REDIS_URL: 'redis://h:6379' };
  keepStores(run, {});

  keepStores(run, stores);

  expect(keptStores(run)).toEqual(stores);
  expect(fs.readdirSync(run)).toEqual(['stores.json']);
  expect(fs.statSync(path.join(run, 'stores.json')).mode & 0o777).toBe(0o600);
});

test('without a running system there are no recorded stores', () => {
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
    'data in PostgreSQL at an invalid address, rate limits in memory (REDIS_URL: Redis)',
  ],
])('describeStores prints %j without passwords', (stores, words) => {
  expect(describeStores(stores)).toBe(words);
});

test('servers that accept connections are reachable; no server is required', async () => {
  const server = net.createServer();
  onTestFinished(() => void server.close());
  const port = await listenAnywhere(server);

  await requireReachable({ DATABASE_URL: `postgres://fw:secret@127.0.0.1:${port}/fw` });
  await requireReachable({ REDIS_URL: `redis://127.0.0.1:${port}` });
  await requireReachable({ DATABASE_URL: 'postgres:///fw?host=/run/postgresql' });
  await requireReachable({});
});

test('the error of an unavailable server contains its address without the password', async () => {
  const port = await freePort();

  await expect(
    requireReachable({ DATABASE_URL: `postgres://fw:secret@127.0.0.1:${port}/fw` }),
  ).rejects.toThrow(`Cannot reach 127.0.0.1:${port}/fw of DATABASE_URL: connect ECONNREFUSED`);
  await expect(requireReachable({ REDIS_URL: 'secret@[' })).rejects.toThrow(
    'REDIS_URL must be an address such as scheme://host',
  );
});
