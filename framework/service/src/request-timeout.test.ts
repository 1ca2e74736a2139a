import { setTimeout as sleep } from 'node:timers/promises';

import { request } from '@fw/core/testing';
import { createApp, type Middleware } from 'fw';
import { expect, test } from 'vitest';

import { limitTime } from './request-timeout.ts';
import { createServiceApp } from './service-app.ts';

const logger = { info() {}, warn() {}, error() {} };

test.each<readonly [string, Middleware]>([
  ['waits for ever', () => new Promise(() => {})],
  ['waits for what the signal ends', (ctx) => sleep(60_000, undefined, { signal: ctx.signal })],
])('a request that %s is answered 503 in time', async (_, handler) => {
  const app = createServiceApp({ logger, requestTimeoutMs: 50 }).use(handler);

  const response = await request(app, '/');

  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(response.headers.get('x-request-id')).toMatch(/./);
  expect(await response.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test('requests that are answered in time are left alone', async () => {
  const app = createApp({ logger }).use(limitTime(60_000), async (ctx) => {
    await sleep(1);
    if (ctx.path === '/error') ctx.throw(409);
    ctx.json({});
  });

  const [fine, refused] = await Promise.all([request(app, '/'), request(app, '/error')]);

  expect(fine.status).toBe(200);
  expect(refused.status).toBe(409);
});

test('each of several requests has a time of its own', async () => {
  const app = createServiceApp({ logger, requestTimeoutMs: 100 });
  app.use((ctx) =>
    ctx.path === '/slow' ? new Promise(() => {}) : sleep(1).then(() => ctx.json({})),
  );

  const first = request(app, '/slow');
  await sleep(30);
  const answers = await Promise.all([first, request(app, '/'), request(app, '/slow')]);

  expect(answers.map(({ status }) => status)).toEqual([503, 200, 503]);
});

test('a request that ends after its time takes nothing from those that wait', async () => {
  const end = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const app = createServiceApp({ logger, requestTimeoutMs: 50 }).use((ctx) => {
    if (ctx.path === '/late') return end.promise;
    if (ctx.path === '/last') asked.resolve();
    return new Promise(() => {});
  });
  const late = await Promise.all([request(app, '/late'), request(app, '/hung')]);

  const last = request(app, '/last');
  await asked.promise;
  end.resolve();

  expect([...late, await last].map(({ status }) => status)).toEqual([503, 503, 503]);
});

test.each([0, -1, Number.NaN, 2 ** 31])('%d ms is no time to limit a request to', (timeoutMs) => {
  expect(() => limitTime(timeoutMs)).toThrow(TypeError);
});
