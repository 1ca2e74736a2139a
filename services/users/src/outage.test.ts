import { setTimeout as sleep } from 'node:timers/promises';

import { type ServiceProcess, startService } from '@fw/service/testing';
import { startPostgres } from '@fw/service/testing/postgres';
import { expect, onTestFinished, test } from 'vitest';

const MAIN = new URL('./main.ts', import.meta.url);

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly tookMs: number;
}

async function start(url: string): Promise<ServiceProcess> {
  const service = await startService(MAIN, {
    DATABASE_URL: url,
    DATABASE_STATEMENT_TIMEOUT_MS: '1000',
  });
  onTestFinished(async () => {
    service.signal('SIGKILL');
    await service.ended;
  });
  return service;
}

async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const startedMs = performance.now();
  const response = await fetch(url, init);
  await response.arrayBuffer();
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, retryAfter, tookMs: performance.now() - startedMs };
}

function create(usersUrl: string): Promise<Answer> {
  const email = `${crypto.randomUUID()}@example.com`;
  return ask(usersUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Ada', email }),
  });
}

/** How long it takes until a user can be created. */
async function untilCreated(usersUrl: string): Promise<number> {
  const startedMs = performance.now();
  while ((await create(usersUrl)).status !== 201) await sleep(10);
  return performance.now() - startedMs;
}

test('the service lives through the outages of PostgreSQL, and a start without it', {
  retry: 2, // on a machine that is busy with all tests at once a time-out may pass unheeded
  timeout: 60_000,
}, async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  await server.kill();

  const service = await start(server.url);
  const usersUrl = `${service.url}/api/v2/users`;
  const expectAway = async (withinMs: number) => {
    const answers = await Promise.all([create(usersUrl), ask(usersUrl), ask(`${usersUrl}/ada`)]);
    for (const { status, retryAfter, tookMs } of answers) {
      expect([status, retryAfter]).toEqual([503, '1']);
      expect(tookMs).toBeLessThan(withinMs);
    }
    expect((await ask(`${service.healthUrl}/livez`)).status).toBe(200);
    expect((await ask(`${service.healthUrl}/readyz`)).status).toBe(503);
  };

  await expectAway(1_000);
  await server.restart();
  expect(await untilCreated(usersUrl)).toBeLessThan(2_000);
  expect((await ask(`${service.healthUrl}/readyz`)).status).toBe(200);

  await server.kill();
  await expectAway(1_000);
  await server.restart();
  expect(await untilCreated(usersUrl)).toBeLessThan(2_000);

  await server.pause();
  await expectAway(2_000);
  await expectAway(1_000);
  await server.resume();
  expect(await untilCreated(usersUrl)).toBeLessThan(2_000);
  expect((await ask(`${service.healthUrl}/readyz`)).status).toBe(200);
});
