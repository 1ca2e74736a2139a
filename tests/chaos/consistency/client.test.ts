import http from 'node:http';

import { expect, onTestFinished, test } from 'vitest';

import { listenAnywhere } from '../../../deploy/local/testing/ports.ts';
import { createClient } from './client.ts';
import type { Request } from './operation.ts';

const ADA = { name: 'Ada', email: 'ada@example.com' };
const USER = { id: 'a', ...ADA, version: 1 };

/** A client of a server that handles all requests with `respond`. */
async function startClient(respond: http.RequestListener) {
  const server = http.createServer(respond);
  const client = createClient(`http://127.0.0.1:${await listenAnywhere(server)}`);
  onTestFinished(() => {
    client.close();
    server.close();
  });
  return client;
}

test.each<[string, Request, string, string | undefined, string | undefined]>([
  ['creation', { kind: 'create', key: 1, ...ADA }, 'POST /api/v2/users', undefined, 'g-1'],
  ['read', { kind: 'read', id: 'a' }, 'GET /api/v2/users/a', undefined, undefined],
  ['change', { kind: 'change', id: 'a', ifVersion: 3 }, 'PATCH /api/v2/users/a', '"3"', undefined],
  ['deletion', { kind: 'delete', id: 'a' }, 'DELETE /api/v2/users/a', undefined, undefined],
])('a %s is one request', async (_name, request, line, ifMatch, key) => {
  const received: unknown[] = [];
  const client = await startClient(({ method, url, headers }, response) => {
    received.push([`${method} ${url}`, headers['if-match'], headers['idempotency-key']]);
    response.end(JSON.stringify({ data: USER }));
  });

  const outcome = await client.send('g', request);

  expect(outcome).toEqual({ status: 200, user: USER });
  expect(received).toEqual([[line, ifMatch, key]]);
});

test('a rejected request has a known outcome', async () => {
  const client = await startClient((_, response) => response.writeHead(412).end('{}'));

  expect(await client.send('g', { kind: 'read', id: 'a' })).toEqual({ status: 412 });
});

test.each<[string, http.RequestListener]>([
  ['a 503', (_, response) => response.writeHead(503).end()],
  ['a connection that ends before the response', ({ socket }) => socket.destroy()],
  [
    'a connection that ends in the response',
    (_, response) => response.writeHead(200).write('{', () => response.destroy()),
  ],
])('after %s the outcome is unknown', async (_name, respond) => {
  const client = await startClient(respond);

  expect(await client.send('g', { kind: 'read', id: 'a' })).toBeUndefined();
});

test('any other status is an error', async () => {
  const client = await startClient((_, response) => response.writeHead(500).end('{}'));

  const response = client.send('g', { kind: 'read', id: 'a' });

  await expect(response).rejects.toThrow('GET /api/v2/users/a got an unexpected 500: {}');
});

test('a reset ends the requests that wait for a response', async () => {
  const arrived = Promise.withResolvers<void>();
  const client = await startClient(() => arrived.resolve());

  const outcome = client.send('g', { kind: 'delete', id: 'a' });
  await arrived.promise;
  client.reset();

  expect(await outcome).toBeUndefined();
});
