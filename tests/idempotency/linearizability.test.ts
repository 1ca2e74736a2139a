import { setImmediate } from 'node:timers/promises';

import { request } from '@fw/core/testing';
import { startTestPostgres } from '@fw/service/testing/vitest';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import {
  type RedisServer,
  startRedisServer,
} from '../../framework/rate-limit/src/testing/redis-server.ts';
import { isLinearizable, type Operation } from './linearizability.ts';
import { CLAIM_BUGS, TRANSACTION_BUGS } from './planted-bugs.ts';
import {
  type ClaimBug,
  createMemorySystem,
  createPostgresSystem,
  createRedisSystem,
  createSqliteSystem,
  type System,
  type TransactionBug,
} from './systems.ts';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedisServer();
});
afterAll(() => redis.stop());
const postgres = startTestPostgres();

const onPostgres = async (bug?: TransactionBug) =>
  createPostgresSystem(await postgres().createDatabase(), bug);
const onRedis = (bug?: ClaimBug) => createRedisSystem(redis.url, bug);

const KEYS = 100;
const KEYS_WITH_BUG = 40;
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
async function countViolations(system: System, keys = KEYS_WITH_BUG): Promise<number> {
  onTestFinished(() => system.close());
  const histories = new Map<string, readonly Operation[]>();
  let started = 0;
  const worker = async () => {
    while (started < keys) {
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
    ['memory', createMemorySystem],
    ['Redis', onRedis],
    ['SQLite', createSqliteSystem],
    ['PostgreSQL', onPostgres],
  ])('with %s', async (_, create) => {
    expect(await countViolations(await create(), KEYS)).toBe(0);
  });
});

const CLAIMS = Object.keys(CLAIM_BUGS) as ClaimBug[];
const TRANSACTIONS = Object.keys(TRANSACTION_BUGS) as TransactionBug[];

describe('the test finds that', () => {
  test.each(CLAIMS)('%s (memory)', async (bug) => {
    expect(await countViolations(await createMemorySystem(bug))).toBeGreaterThan(0);
  });

  test.each(CLAIMS)('%s (Redis)', async (bug) => {
    expect(await countViolations(await onRedis(bug))).toBeGreaterThan(0);
  });

  test.each(TRANSACTIONS)('%s (SQLite)', async (bug) => {
    expect(await countViolations(await createSqliteSystem(bug))).toBeGreaterThan(0);
  });

  test.each(TRANSACTIONS)('%s (PostgreSQL)', async (bug) => {
    expect(await countViolations(await onPostgres(bug))).toBeGreaterThan(0);
  });
});
