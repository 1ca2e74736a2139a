import http from 'node:http';

import { expect, onTestFinished, test } from 'vitest';

import { freePort, listenAnywhere } from '../local/testing/ports.ts';
import { startTrialEdge } from '../local/testing/trial-edge.ts';

type Respond = (
  request: http.IncomingMessage,
  response: http.ServerResponse,
  bytes: number,
) => void;

/** Responds with the request, so that a test sees what the edge forwarded. */
const echo: Respond = ({ method, url }, response, bytes) => {
  response.end(JSON.stringify({ method, url, bytes }));
};

/** Receives the request and fails before it responds. */
const die: Respond = (request) => void request.socket.destroy();

/** Starts a replica of a service; `received` are the methods of the requests, in their order. */
async function startReplica(respond: Respond) {
  const received: (string | undefined)[] = [];
  const server = http.createServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray()).length;
    received.push(request.method);
    respond(request, response, bytes);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: await listenAnywhere(server), server, received };
}

/** Starts an edge in front of these replicas of users; returns its address. */
async function startEdge(users: readonly number[], limits: readonly string[] = []) {
  const edge = await startTrialEdge({ users }, { limits });
  onTestFinished(() => edge.stop());
  return edge.origin;
}

test('while no replica has a free connection, requests get 503 with Retry-After, except critical ones', async () => {
  const held: http.ServerResponse[] = [];
  const { port } = await startReplica((_, response) => held.push(response));
  const origin = await startEdge([port]);
  const get = (target: string) => fetch(origin + target);
  const waiting = Array.from({ length: 200 }, () => get('/api/v2/users'));
  await expect.poll(() => held.length, { timeout: 30_000 }).toBe(200);

  const rejected = await get('/api/v2/users');
  const critical = get(`/api/v2/users/${crypto.randomUUID()}`);
  await expect.poll(() => held.length, { timeout: 30_000 }).toBe(201);
  for (const response of held) response.end();

  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await rejected.json()).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  expect((await critical).status).toBe(200);
  expect((await Promise.all(waiting)).every(({ ok }) => ok)).toBe(true);
});

test.each(['PUT', 'DELETE', 'POST', 'PATCH', 'OPTIONS', 'QUERY'])(
  'a %s that a replica may have processed is not repeated: 502',
  async (method) => {
    const [first, second] = [await startReplica(die), await startReplica(die)];
    const origin = await startEdge([first.port, second.port]);

    const response = await fetch(`${origin}/api/v2/users`, { method });

    expect(response.status).toBe(502);
    expect([...first.received, ...second.received]).toEqual([method]);
  },
);

test.each(['GET', 'HEAD'])('a %s whose replica fails is sent to one other', async (method) => {
  const dying = [await startReplica(die), await startReplica(die), await startReplica(die)];
  const [first, second, third] = dying.map(({ port }) => port) as [number, number, number];
  const healthy = await startReplica(echo);
  const origin = await startEdge([first, healthy.port]);
  const target = '/api/v2/users/a%2Fb?x=%41';

  const response = await fetch(origin + target, { method });
  const failed = await fetch((await startEdge([first, second, third])) + target, { method });

  const text = await response.text();
  expect([response.status, failed.status]).toEqual([200, 502]);
  if (method === 'GET') expect(JSON.parse(text).url).toBe(target);
  expect(healthy.received).toEqual([method]);
  expect(dying.flatMap(({ received }) => received)).toEqual([method, method, method]);
});

test.each(['GET', 'PUT', 'DELETE', 'POST', 'PATCH'])(
  'a %s whose replica accepts no connection is sent to another, with its body',
  async (method) => {
    const replica = await startReplica(echo);
    // Bodies above 1 MiB are in a file.
    const bytes = method === 'GET' ? 0 : 3_000_000;
    const users = [await freePort(), replica.port];
    const origin = await startEdge(users, ['client_max_body_size 4m;']);
    const init = { method, ...(bytes > 0 && { body: 'x'.repeat(bytes) }) };

    // nginx tries the unavailable replica first for one of two requests.
    for (let count = 0; count < 2; count += 1) {
      const response = await fetch(`${origin}/api/v2/users`, init);
      expect(await response.json()).toMatchObject({ method, bytes });
    }
    expect(replica.received).toEqual([method, method]);
  },
);

test('responses of a service are forwarded with any status and 8 KiB in a header, on reused connections', async () => {
  const replica = await startReplica((_, response) => {
    response.writeHead(502, { link: 'a'.repeat(8_000), 'retry-after': '7' }).end('of the service');
  });
  let opened = 0;
  replica.server.on('connection', () => (opened += 1));
  const origin = await startEdge([replica.port]);

  for (let count = 0; count < 20; count += 1) {
    const response = await fetch(`${origin}/api/v2/users`);
    expect([response.status, await response.text()]).toEqual([502, 'of the service']);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(response.headers.get('link')).toHaveLength(8_000);
  }
  expect(opened).toBe(1);
});
