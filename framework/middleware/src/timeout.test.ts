import { setTimeout as sleep } from 'node:timers/promises';

import { type Application, createApp, type Middleware } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { expect, test } from 'vitest';
import { timeout } from './timeout.ts';

function createLimitedApp(timeoutMs: number): Application {
  const app = createApp({ logger: quiet });
  app.use(errorHandler(), timeout(timeoutMs));
  return app;
}

test.each<readonly [string, Middleware]>([
  ['waits forever', () => new Promise(() => {})],
  ['waits until ctx.signal aborts', (ctx) => sleep(60_000, undefined, { signal: ctx.signal })],
])('timeout responds with 503 if the handler %s', async (_, handler) => {
  const app = createLimitedApp(50).use(handler);

  const response = await request(app, '/');

  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(await response.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test('timeout does not change responses that are sent in time, also with its longest time', async () => {
  const app = createLimitedApp(2 ** 31 - 1).use(async (ctx) => {
    await sleep(1);
    if (ctx.path === '/error') ctx.throw(409);
    ctx.json({});
  });

  const [success, conflict] = await Promise.all([request(app, '/'), request(app, '/error')]);

  expect(success.status).toBe(200);
  expect(conflict.status).toBe(409);
});
