import fs from 'node:fs';
import path from 'node:path';

import { startPostgres } from '@fw/service/testing/postgres';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { startRedisServer } from '../../framework/rate-limit/src/testing/redis-server.ts';
import { isPortFree } from './ports.ts';
import { isRunning, stopProcess } from './process.ts';
import { outsideChecks } from './smoke.ts';
import { readRunning } from './state.ts';
import { stopSystem } from './stop.ts';
import type { Stores } from './stores.ts';
import { launchBrowser } from './testing/browser.ts';
import { startTrialSystem, type TrialSystem } from './testing/trial-system.ts';

const START_TIMEOUT_MS = 90_000;

describe.each([
  ['SQLite and memory', () => Promise.resolve({ stores: {}, end: () => Promise.resolve() })],
  ['PostgreSQL and Redis', startStores],
] as const)('the whole system on %s', (_, prepare) => {
  let system: TrialSystem;
  let end: () => Promise<void>;

  beforeAll(async () => {
    const prepared = await prepare();
    end = prepared.end;
    system = await startTrialSystem(prepared.stores);
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await system.stop();
    await end();
  });

  for (const { title, run } of outsideChecks) test(title, () => run(system.target));
});

async function startStores(): Promise<{ stores: Stores; end: () => Promise<void> }> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedisServer()]);
  return {
    stores: { DATABASE_URL: postgres.url, REDIS_URL: redis.url },
    end: async () => {
      await Promise.all([postgres.stop(), redis.stop()]);
    },
  };
}

describe('a system that runs', () => {
  let system: TrialSystem;

  beforeAll(async () => {
    system = await startTrialSystem();
  }, START_TIMEOUT_MS);

  afterAll(() => system.stop());

  test('is left alone by another start', async () => {
    const before = readRunning(system.folders.run);

    await system.up();

    expect(system.said.at(-1)).toBe('Already running');
    expect(readRunning(system.folders.run)).toEqual(before);
  });

  test('is brought back whole by another start, and its page shows both', async () => {
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(system.target.api.origin);
    const state = page.getByRole('status');
    await state.getByText('All three are up').waitFor();

    const reports = readRunning(system.folders.run).find(({ name }) => name === 'reports-1');
    if (reports) await stopProcess(reports);
    await state.getByText('reports is down').waitFor();
    await system.up();
    await state.getByText('All three are up').waitFor();

    expect(readRunning(system.folders.run)).toHaveLength(6);
  });

  test.each(['users', 'catalog', 'reports'])(
    'leads from its page to the documentation of %s, where a request can be tried',
    async (name) => {
      const browser = await launchBrowser();
      onTestFinished(() => browser.close());
      const page = await browser.newPage();
      await page.goto(system.target.api.origin);

      await page.getByRole('navigation', { name }).getByText('Documentation').click();
      await page.waitForURL(`**/docs/${name}`);
      const list = page.getByRole('article', { name: /^List/ }).first();
      await list.getByRole('button', { name: 'Try it' }).click();
      await list.getByRole('button', { name: 'Send request' }).click();

      await list
        .locator('.answer')
        .getByText(/200 OK|401 Unauthorized/)
        .waitFor();
    },
  );
});

test('stopping leaves no process, no port and no file but the data', {
  timeout: START_TIMEOUT_MS,
}, async () => {
  const { folders, stop } = await startTrialSystem();
  onTestFinished(stop);
  const running = readRunning(folders.run);

  const stopped = await stopSystem(folders);

  expect(stopped).toBe(6);
  expect(running.filter(isRunning)).toEqual([]);
  for (const port of running.flatMap(({ ports }) => ports))
    expect(await isPortFree(port)).toBe(true);
  expect(fs.readdirSync(path.join(folders.root, '.local'))).toEqual(['data']);
  expect(fs.readdirSync(folders.data).sort()).toEqual(['catalog.db', 'users.db']);
});
