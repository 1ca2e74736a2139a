import http from 'node:http';
import { expect, onTestFinished, test } from 'vitest';

import { freePort, listenAnywhere } from '../testing/ports.ts';
import { startTrialEdge, type TrialEdgeOptions } from '../testing/trial-edge.ts';

interface Replica {
  readonly port: number;
  /** The methods of the requests that arrived, in their order. */
  readonly received: string[];
}

/** Starts a replica that handles requests with `respond`. */
async function startReplica(respond: http.RequestListener): Promise<Replica> {
  const received: string[] = [];
  const server = http.createServer(async (request, response) => {
    await request.toArray();
    received.push(request.method ?? '');
    respond(request, response);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: await listenAnywhere(server), received };
}

/** A replica that receives the request and fails before it responds. */
const dying = () => startReplica((request) => request.socket.destroy());

/** A replica that responds with the target of the request. */
const healthy = () =>
  startReplica((request, response) => response.end(JSON.stringify({ url: request.url })));

/** An edge in front of these replicas of users. */
async function startEdge(
  users: readonly number[],
  limits: TrialEdgeOptions['limits'] = {},
): Promise<string> {
  const edge = await startTrialEdge({ users }, { limits });
  onTestFinished(() => edge.stop());
  return edge.origin;
}

const PATH = '/api/v2/users/a%2Fb?x=%41';

test('response headers that repeat the longest request line are passed on', async () => {
  const link = `</${'a'.repeat(8_000)}>; rel="next"`;
  const replica = await startReplica((_, response) => response.setHeader('Link', link).end());
  const origin = await startEdge([replica.port]);

  const response = await fetch(origin + PATH);

  expect(response.status).toBe(200);
  expect(response.headers.get('link')).toBe(link);
});

test.each(['PUT', 'DELETE', 'POST', 'PATCH', 'OPTIONS', 'QUERY'])(
  'a %s that a replica may have processed is not repeated: 502',
  async (method) => {
    const [first, second] = [await dying(), await dying()];
    const origin = await startEdge([first.port, second.port]);

    const response = await fetch(origin + PATH, { method });

    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ status: 502, code: 'BAD_GATEWAY' });
    expect([...first.received, ...second.received]).toEqual([method]);
  },
);

test.each(['GET', 'HEAD'])(
  'a %s whose replica fails is sent to another replica unchanged',
  async (method) => {
    const [first, second] = [await dying(), await healthy()];
    const origin = await startEdge([first.port, second.port]);

    const response = await fetch(origin + PATH, { method });

    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toBe(method === 'HEAD' ? '' : JSON.stringify({ url: PATH }));
    expect([first.received, second.received]).toEqual([[method], [method]]);
  },
);

test('a GET is sent at most twice', async () => {
  const replicas = [await dying(), await dying(), await dying()];
  const origin = await startEdge(replicas.map(({ port }) => port));

  const response = await fetch(origin + PATH);

  expect(response.status).toBe(502);
  expect(replicas.flatMap(({ received }) => received)).toEqual(['GET', 'GET']);
});

test.each(['GET', 'PUT', 'DELETE', 'POST', 'PATCH'])(
  'a %s whose replica accepts no connection is sent to another, with its body',
  async (method) => {
    const replica = await startReplica((_, response) => response.end('done'));
    const origin = await startEdge([await freePort(), replica.port]);
    const init = { method, ...(method !== 'GET' && { body: 'x'.repeat(200_000) }) };

    // Two requests: nginx tries the unavailable replica first for one of them.
    const responses = [await fetch(origin + PATH, init), await fetch(origin + PATH, init)];

    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(replica.received).toEqual([method, method]);
  },
);

test('a body that nginx stores in a file is sent again too', async () => {
  let bytes = 0;
  const server = http.createServer(async (request, response) => {
    bytes = Buffer.concat(await request.toArray()).length;
    response.end();
  });
  onTestFinished(() => void server.close());
  const users = [await freePort(), await listenAnywhere(server)];
  const origin = await startEdge(users, { bodyLimit: 4_000_000 });

  for (let time = 0; time < 2; time += 1) {
    bytes = 0;
    const response = await fetch(origin + PATH, { method: 'PUT', body: 'x'.repeat(3_000_000) });
    expect([response.status, bytes]).toEqual([200, 3_000_000]);
  }
});

test('a response of the service is forwarded with any status', async () => {
  const replica = await startReplica((_, response) => {
    response.writeHead(502, { 'content-type': 'text/plain' }).end('of the service');
  });
  const origin = await startEdge([replica.port, replica.port]);

  const response = await fetch(origin + PATH);

  expect([response.status, await response.text()]).toEqual([502, 'of the service']);
  expect(replica.received).toEqual(['GET']);
});
