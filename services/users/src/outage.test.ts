import { setTimeout as sleep } from 'node:timers/promises';

import { startPostgres } from '@fw/service/testing/postgres';
import { startTestService } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

const MAIN = new URL('./main.ts', import.meta.url);

interface Outcome {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly tookMs: number;
}

async function send(url: string, init: RequestInit = {}): Promise<Outcome> {
  const startedMs = performance.now();
  const response = await fetch(url, init);
  await response.arrayBuffer();
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, retryAfter, tookMs: performance.now() - startedMs };
}

function create(usersUrl: string): Promise<Outcome> {
  const email = `${crypto.randomUUID()}@example.com`;
  return send(usersUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Ada', email }),
  });
}

/** Creates users until a request succeeds; resolves with the elapsed time in milliseconds. */
async function untilCreated(usersUrl: string): Promise<number> {
  const startedMs = performance.now();
  while ((await create(usersUrl)).status !== 201) await sleep(10);
  return performance.now() - startedMs;
}

test('the service sends 503 soon after PostgreSQL fails or hangs, and recovers within 2 s', {
  retry: 2, // a machine that runs all tests concurrently may exceed the time limits
  timeout: 60_000,
}, async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  await server.kill();

  const service = await startTestService(MAIN, {
    DATABASE_URL: server.url,
    DATABASE_STATEMENT_TIMEOUT_MS: '1000',
  });
  const usersUrl = `${service.url}/api/v2/users`;
  const readiness = async () => (await send(`${service.healthUrl}/readyz`)).status;
  const storeMetric = async () => {
    const text = await (await fetch(`${service.healthUrl}/metrics`)).text();
    return /^service_check_passes\{check="store"\} (.)$/m.exec(text)?.[1];
  };
  const expectUnavailable = async (withinMs: number) => {
    const outcomes = await Promise.all([create(usersUrl), send(usersUrl), send(`${usersUrl}/ada`)]);
    for (const { status, retryAfter, tookMs } of outcomes) {
      expect([status, retryAfter]).toEqual([503, '1']);
      expect(tookMs).toBeLessThan(withinMs);
    }
    expect((await send(`${service.healthUrl}/livez`)).status).toBe(200);
    expect(await storeMetric()).toBe('0');
  };

  await expectUnavailable(1_000);
  expect(await readiness()).toBe(503); // the start waits for the store
  await server.restart();
  expect(await untilCreated(usersUrl)).toBeLessThan(2_000);
  expect(await readiness()).toBe(200);

  await server.kill();
  await expectUnavailable(1_000);
  expect(await readiness()).toBe(200);
  await server.restart();
  expect(await untilCreated(usersUrl)).toBeLessThan(2_000);

  await server.pause();
  await expectUnavailable(2_000);
  await expectUnavailable(1_000);
  expect(await readiness()).toBe(200);
  await server.resume();
  expect(await untilCreated(usersUrl)).toBeLessThan(2_000);
  expect(await storeMetric()).toBe('1');
});
