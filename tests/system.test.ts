import { startPostgres } from '@fw/service/testing/postgres';
import { onTestFinished, test, vi } from 'vitest';

import type { Stores } from '../deploy/local/processes/stores.ts';
import { startTrialSystem } from '../deploy/local/testing/trial-system.ts';
import { readOrCreateSecret } from '../deploy/local/token.ts';
import { startRedisServer } from '../framework/rate-limit/src/testing/redis-server.ts';
import { checkSystem } from './check-system.ts';

vi.setConfig({ testTimeout: 300_000 });

async function checkNewSystem(stores: Stores): Promise<void> {
  const { origin, folders, stop } = await startTrialSystem(stores);
  onTestFinished(stop);
  await checkSystem({ base: origin, secret: readOrCreateSecret(folders.run) });
}

test('the system on SQLite and memory passes the contract and smoke tests', () =>
  checkNewSystem({}));

test('the system on PostgreSQL and Redis passes the contract and smoke tests', async () => {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedisServer()]);
  onTestFinished(async () => {
    await Promise.all([postgres.stop(), redis.stop()]);
  });

  await checkNewSystem({ DATABASE_URL: postgres.url, REDIS_URL: redis.url });
});
