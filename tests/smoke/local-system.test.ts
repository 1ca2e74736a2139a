import { startPostgres } from '@fw/service/testing/postgres';
import { afterAll, beforeAll, describe, test, vi } from 'vitest';

import { startTrialSystem, type TrialSystem } from '../../deploy/local/testing/trial-system.ts';
import { startRedisServer } from '../../framework/rate-limit/src/testing/redis-server.ts';
import { localTarget } from '../contract/target.ts';
import { outsideChecks } from './smoke.ts';

/** A start takes seconds, and many times that on a busy machine. */
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const targetOf = ({ origin, folders }: TrialSystem) => localTarget(origin, folders.run);

describe('the system on PostgreSQL and Redis', () => {
  let system: TrialSystem;
  const ends: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedisServer()]);
    ends.push(postgres.stop, redis.stop);
    system = await startTrialSystem({ DATABASE_URL: postgres.url, REDIS_URL: redis.url });
  });

  afterAll(async () => {
    await system?.stop();
    await Promise.all(ends.map((end) => end()));
  });

  for (const { title, run } of outsideChecks) test(title, () => run(targetOf(system)));
});

describe('the system on SQLite and memory', () => {
  let system: TrialSystem;

  beforeAll(async () => {
    system = await startTrialSystem();
  });

  afterAll(() => system?.stop());

  for (const { title, run } of outsideChecks) test(title, () => run(targetOf(system)));
});
