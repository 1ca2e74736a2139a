import type { IncomingMessage, ServerResponse } from 'node:http';

import { request } from '@fw/core/testing';
import { expect, test } from 'vitest';

import { startHttpServer } from '../../../middleware/src/testing/http-server.ts';
import { createServiceApp } from '../app/service-app.ts';
import { recordLog } from '../testing/log.ts';
import { createServiceClient, type ServiceClientOptions } from './service-client.ts';

interface Paths {
  '/total': {
    get: { responses: { 200: { content: { 'application/json': { total: number } } } } };
  };
}

type Responder = (res: ServerResponse) => void;

/** Starts a service whose requests get the responses of `responders` in turn; the last one repeats. */
async function startUpstream(...responders: Responder[]) {
  const requests: IncomingMessage[] = [];
  const { url } = await startHttpServer((req, res) => {
    responders[Math.min(requests.push(req), responders.length) - 1]?.(res);
  });
  return { requests, url };
}

function newClient(baseUrl: string, options: Partial<ServiceClientOptions> = {}) {
  const defaults = { name: 'users', baseUrl, timeoutMs: 5_000, retryDelayMs: 1 };
  return createServiceClient<Paths>({ ...defaults, ...options });
}

const sendTotal: Responder = (res) => {
  res.writeHead(200, { 'Content-Type': 'application/json' }).end('{"total":2}');
};
const sendStatus =
  (status: number): Responder =>
  (res) => {
    res.writeHead(status).end();
  };
const hangUp: Responder = (res) => res.destroy();

test('a failed attempt is followed by one more', async () => {
  const recovering = await startUpstream(sendStatus(503), sendTotal);
  const failing = await startUpstream(hangUp);

  const [recovered, failed] = await Promise.allSettled([
    newClient(recovering.url).get('/total'),
    newClient(failing.url).get('/total'),
  ]);

  expect(recovered).toMatchObject({ value: { data: { total: 2 } } });
  expect(failed).toMatchObject({
    reason: { message: expect.stringContaining('Cannot call users') },
  });
  expect(failing.requests).toHaveLength(2);
});

test.each<readonly [string, Responder]>([
  ['closed connections', hangUp],
  ['responses with 500', sendStatus(500)],
  ['incomplete responses', (res) => res.writeHead(200).write('{', () => res.destroy())],
])('after %s in a row no request is sent until a trial succeeds', async (_, failure) => {
  const upstream = await startUpstream(failure, failure, sendTotal);
  const clock = { ms: 0 };
  const client = newClient(upstream.url, { failures: 2, openMs: 1_000, now: () => clock.ms });
  const fail = () => client.get('/total').catch(() => {});
  while (upstream.requests.length < 2) await fail();

  await expect(client.get('/total')).rejects.toMatchObject({ reason: 'open' });
  clock.ms = 1_000;
  const { data } = await client.get('/total');

  expect(data).toEqual({ total: 2 });
  expect(upstream.requests).toHaveLength(3);
});

test('a call that its client aborts is no failure of the service', async () => {
  const caller = new AbortController();
  const upstream = await startUpstream(() => caller.abort(new Error('left')), sendTotal);
  const client = newClient(upstream.url, { failures: 1 });

  await expect(client.get('/total', { signal: caller.signal })).rejects.toThrow('left');

  expect((await client.get('/total')).data).toEqual({ total: 2 });
});

test('an uncaught error of a call gets a 503 response, and is logged', async () => {
  const upstream = await startUpstream(sendStatus(404));
  const { errors, logger } = recordLog();
  const client = newClient(upstream.url);
  const app = createServiceApp({ logger }).use(async (ctx) => {
    ctx.json((await client.get('/total', { ctx })).data);
  });

  const response = await request(app, '/');

  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(errors).toMatchObject([{ message: 'Cannot call users: it responds with 404' }]);
});
