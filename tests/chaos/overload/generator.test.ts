import { once } from 'node:events';
import { createServer, type OutgoingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

import { OUTCOMES, type RequestKind, sendLoad } from './generator.ts';

const KIND: RequestKind = { name: 'read', weight: 1, method: 'GET', path: '/' };

function respondWith(status: number, headers: OutgoingHttpHeaders = {}): RequestListener {
  return (_, response) => response.writeHead(status, { 'Content-Length': 0, ...headers }).end();
}

/** Sends about 50 requests to `respond`, and returns how many had each outcome. */
async function outcomesOf(respond: RequestListener, kind: Partial<RequestKind> = {}) {
  const server = createServer(respond).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => server.closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const phases = [{ perSecond: 100, seconds: 0.5 }];
  const kinds = [{ ...KIND, ...kind }];
  const result = await sendLoad({ port, kinds, phases, idPrefix: 'a', impatientShare: 0 });
  server.close();
  const outcomes = new Set([...result.outcome].map((index) => OUTCOMES[index]));
  return { result, outcomes: [...outcomes] };
}

test.each<readonly [string, string, RequestListener]>([
  ['2xx', 'served', (_, response) => response.end('héllo')],
  ['503 with Retry-After', 'rejected', respondWith(503, { 'Retry-After': 1 })],
  ['503 without Retry-After', 'failed', respondWith(503)],
  ['500', 'failed', respondWith(500)],
  ['a closed connection', 'failed', (request) => request.socket.destroy()],
  ['no response', 'timedOut', () => {}],
])('a request with %s is counted as %s', async (_, outcome, respond) => {
  const { outcomes } = await outcomesOf(respond);

  expect(outcomes).toEqual([outcome]);
});

test('each request has an id, and the body of its kind', async () => {
  const received: unknown[] = [];
  const { result } = await outcomesOf(
    async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      received.push([request.method, request.headers['x-request-id'], body]);
      response.end();
    },
    { method: 'POST', body: '{"a":"ä"}' },
  );

  const expected = [...result.outcome.keys()].map((index) => ['POST', `a-${index}`, '{"a":"ä"}']);
  expect(received.toSorted()).toEqual(expected.toSorted());
});
