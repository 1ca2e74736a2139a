import { request } from '@fw/core/testing';
import { ConflictError } from 'fw';
import { expect, test } from 'vitest';

import { createDrain } from './drain.ts';
import { createServiceApp } from './service-app.ts';

const logger = { info() {}, warn() {}, error() {} };

test('a service answers what its handlers throw as a problem', async () => {
  const app = createServiceApp({ logger }).use(() => {
    throw new ConflictError('taken');
  });

  const response = await request(app, '/');

  expect(response.status).toBe(409);
  expect(await response.json()).toMatchObject({ detail: 'taken', code: 'CONFLICT' });
});

test('a service sends the request id back, or one of its own', async () => {
  const app = createServiceApp({ logger }).use((ctx) => ctx.json({}));

  const given = await request(app, '/', { headers: { 'X-Request-Id': 'abc' } });
  const made = await request(app, '/', { headers: { 'X-Request-Id': 'not a plain id' } });

  expect(given.headers.get('x-request-id')).toBe('abc');
  expect(made.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
});

test('a service believes as many proxies as it is told', async () => {
  const headers = { 'X-Forwarded-For': '192.0.2.7' };
  const answerIp = (trustProxy: number) =>
    request(
      createServiceApp({ logger, trustProxy }).use((ctx) => ctx.send(ctx.ip)),
      '/',
      { headers },
    );

  expect(await (await answerIp(0)).text()).toBe('127.0.0.1');
  expect(await (await answerIp(1)).text()).toBe('192.0.2.7');
});

test('answers of a draining service close their connection, errors too', async () => {
  const drain = createDrain();
  const app = createServiceApp({ logger, drain }).use((ctx) => {
    if (ctx.path === '/error') throw new Error('broken');
    ctx.json({});
  });
  const connection = async (path: string) => {
    const response = await request(app, path, { headers: { Connection: 'keep-alive' } });
    return response.headers.get('connection');
  };

  const before = await connection('/');
  drain.begin();

  expect(before).toBe('keep-alive');
  expect(await connection('/')).toBe('close');
  expect(await connection('/error')).toBe('close');
});
