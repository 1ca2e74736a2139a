import { setImmediate } from 'node:timers/promises';

import { request } from '@fw/core/testing';
import { startTestPostgres } from '@fw/service/testing/vitest';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import {
  type RedisServer,
  startRedisServer,
} from '../../framework/rate-limit/src/testing/redis-server.ts';
import { isLinearizable, type Operation } from './linearizability.ts';
import {
  createMemorySystem,
  createPostgresSystem,
  createRedisSystem,
  createSqliteSystem,
  type System,
} from './systems.ts';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedisServer();
});
afterAll(() => redis.stop());
const postgres = startTestPostgres();

const KEYS = 100;
const CLIENTS = 4;
const OPERATIONS = 3;
/** Keys that are in use at the same time. */
const CONCURRENT_KEYS = 8;

/** Sends random operations of several clients with one key; the last one shows what is stored. */
async function run(system: System, key: string): Promise<readonly Operation[]> {
  const operations: Operation[] = [];
  let time = 0;
  const perform = async (content: string, fails: boolean) => {
    const replica = system.replicas[Math.floor(Math.random() * system.replicas.length)]!;
    const call = ++time;
    const response = await request(replica, '/', {
      method: 'POST',
      json: { content },
      headers: { 'Idempotency-Key': key, 'X-Fail': fails ? '1' : '0' },
    });
    const { value } = (await response.json()) as { value?: string };
    operations.push({ content, call, return: ++time, status: response.status, value });
  };
  const client = async () => {
    for (let sent = 0; sent < OPERATIONS; sent++) {
      await perform(Math.random() < 0.7 ? 'a' : 'b', Math.random() < 0.3);
      if (Math.random() < 0.5) await setImmediate();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await perform('a', false);
  return operations;
}

/** The number of keys whose history is not linearizable. */
async function countViolations(system: System): Promise<number> {
  onTestFinished(() => system.close());
  const histories = new Map<string, readonly Operation[]>();
  let started = 0;
  const worker = async () => {
    while (started < KEYS) {
      const key = `k${started++}`;
      histories.set(key, await run(system, key));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_KEYS }, worker));
  const effects = await system.effects();
  return [...histories].filter(([key, history]) => !isLinearizable(history, effects.get(key) ?? []))
    .length;
}

describe('of requests with an idempotency key, each key has one effect and one response', () => {
  test.each<readonly [string, () => Promise<System>]>([
    ['memory', () => createMemorySystem()],
    ['Redis', () => createRedisSystem(redis.url)],
    ['SQLite', createSqliteSystem],
    ['PostgreSQL', async () => createPostgresSystem(await postgres().createDatabase())],
    [
      'PostgreSQL in one statement',
      async () => createPostgresSystem(await postgres().createDatabase(), { inOneStatement: true }),
    ],
  ])('with %s', async (_, create) => {
    expect(await countViolations(await create())).toBe(0);
  });
});

test('a store whose claim does not exclude others is found', async () => {
  const system = await createMemorySystem((store) => ({
    ...store,
    async claim(attempt) {
      const saved = await store.claim(attempt);
      return saved?.response === undefined ? undefined : saved;
    },
  }));

  expect(await countViolations(system)).toBeGreaterThan(0);
});
