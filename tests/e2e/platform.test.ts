import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { assertResponds } from './platform.ts';

/** A controller: `respond` gets the number of the connection, from 1, and the target. */
async function startController(respond: (connection: number, target: string) => number) {
  const server = http.createServer((request, response) => {
    response.statusCode = respond(connections, request.url ?? '');
    response.end(response.statusCode === 200 ? '' : 'no available server');
  });
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { base: `http://127.0.0.1:${port}`, newToken: () => 'token' };
}

const ALL = { users: {}, catalog: {}, reports: {} };

test('a platform responds if twenty new connections get each service', async () => {
  let opened = 0;
  const controller = await startController((connection) => {
    opened = connection;
    return 200;
  });

  await assertResponds({ ...controller, values: ALL });

  expect(opened).toBe(20 * 4);
});

test('a platform does not respond if one of its connections gets no server of a service', async () => {
  const controller = await startController((connection, target) =>
    connection > 60 && target.startsWith('/api/v2/users') ? 503 : 200,
  );

  await expect(assertResponds({ ...controller, values: ALL })).rejects.toThrow(
    'GET /api/v2/users?limit=1 returned 503: no available server',
  );
});

test('a platform responds without the services that are disabled', async () => {
  const controller = await startController((_, target) => (target.includes('catalog') ? 404 : 200));

  await assertResponds({ ...controller, values: { ...ALL, catalog: { enabled: false } } });
});
