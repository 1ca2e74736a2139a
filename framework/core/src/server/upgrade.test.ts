import { once } from 'node:events';
import type { Duplex } from 'node:stream';

import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';

import { createApp } from '../application.ts';
import { UnauthorizedError } from '../response/http-error.ts';
import { openConnection } from '../testing/index.ts';
import { type ListenOptions, listen } from './listen.ts';
import type { UpgradeHandler } from './raw-requests.ts';

const HANDSHAKE = [
  'GET /chat HTTP/1.1',
  'Host: a',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  '\r\n',
].join('\r\n');

async function start(upgrade?: UpgradeHandler) {
  const errors: string[] = [];
  const logger = { info() {}, warn() {}, error: (line: string) => void errors.push(line) };
  const app = createApp({ logger })
    .get('/chat', () => 'no upgrade')
    .get('/slow', () => new Promise(() => {}));
  const server = await listen(app, { port: 0, ...(upgrade && { upgrade }) });
  onTestFinished(() => server.close({ timeoutMs: 1 }));
  return { ...server, errors };
}

/** A handler that accepts every WebSocket and sends its messages back. */
function createEcho(): { readonly sockets: WebSocketServer; readonly upgrade: UpgradeHandler } {
  const sockets = new WebSocketServer({ noServer: true });
  return {
    sockets,
    upgrade: (req, socket, head) =>
      sockets.handleUpgrade(req, socket, head, (client) => {
        client.on('message', (data) => client.send(String(data)));
      }),
  };
}

/** A WebSocket client whose connection is established. */
async function openWebSocket(port: number): Promise<WebSocket> {
  const client = new WebSocket(`ws://127.0.0.1:${port}/chat`);
  onTestFinished(() => client.terminate());
  await once(client, 'open');
  return client;
}

test('listen passes a WebSocket request to the upgrade handler', async () => {
  const { port } = await start(createEcho().upgrade);
  const client = await openWebSocket(port);

  client.send('hello');
  const [message] = await once(client, 'message');

  expect(String(message)).toBe('hello');
});

test('without an upgrade handler, a WebSocket request is a normal request', async () => {
  const { port } = await start();

  const connection = openConnection(port).send(HANDSHAKE);

  expect(await connection.read(/no upgrade/)).toMatch(/^HTTP\/1\.1 200 OK/);
  connection.close();
});

test('a request for another protocol is a normal request', async () => {
  const { port } = await start(createEcho().upgrade);

  const connection = openConnection(port).send(HANDSHAKE.replace('websocket', 'h2c'));

  expect(await connection.read(/no upgrade/)).toMatch(/^HTTP\/1\.1 200 OK/);
  connection.close();
});

describe('an upgrade handler that fails', () => {
  test.each<readonly [string, UpgradeHandler, string, boolean]>([
    [
      'with an HttpError',
      () => {
        throw new UnauthorizedError('a token is required');
      },
      'HTTP/1.1 401 Unauthorized\r\nContent-Type: application/problem+json',
      false,
    ],
    ['with a rejection', () => Promise.reject(new Error('x')), 'HTTP/1.1 500 ', true],
    [
      'after it has sent data',
      (_req, socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
        throw new Error('late');
      },
      '',
      true,
    ],
  ])('%s closes the connection', async (_, upgrade, expected, logged) => {
    const { port, errors } = await start(upgrade);

    const response = await openConnection(port)
      .send(HANDSHAKE.replace('/chat', '/chat?token=secret'))
      .readAll();

    expect(response).toMatch(expected === '' ? /^(?:HTTP\/1\.1 101 [^{]*)?$/ : expected);
    expect(errors).toEqual(logged ? ['GET /chat: the upgrade failed'] : []);
    const next = openConnection(port).send('GET /chat HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await next.read(/no upgrade/)).toContain('200 OK');
    next.close();
  });
});

test.each([
  ['an ambiguous path', HANDSHAKE.replace('/chat', '/a/../chat'), '400'],
  ['a second Host', HANDSHAKE.replace('Host: a', 'Host: a\r\nHost: b'), '400'],
])('a WebSocket request with %s is rejected', async (_, handshake, status) => {
  const accepted: string[] = [];
  const { port } = await start((req) => void accepted.push(req.url ?? ''));

  const response = await openConnection(port).send(handshake).readAll();

  expect(response).toContain(`HTTP/1.1 ${status}`);
  expect(accepted).toEqual([]);
});

/** The body is incomplete: Node passes a stream for the data after it. */
const HANDSHAKE_WITH_BODY = `${HANDSHAKE.replace('Host: a', 'Host: a\r\nContent-Length: 9')}body`;

test.each([
  ['an upgrade', HANDSHAKE],
  ['an upgrade with a body', HANDSHAKE_WITH_BODY],
])('%s while an earlier response is incomplete closes the connection', async (_, handshake) => {
  const accepted: string[] = [];
  const { port } = await start((req) => void accepted.push(req.url ?? ''));

  const response = await openConnection(port)
    .send(`GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${handshake}`)
    .readAll();

  expect(response).toBe('');
  expect(accepted).toEqual([]);
});

test('a failed upgrade with a body gets no second response', async () => {
  const { port } = await start((_req, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    throw new Error('late');
  });

  const response = await openConnection(port).send(HANDSHAKE_WITH_BODY).readAll();

  expect(response).not.toContain('500');
});

test.each([
  ['an upgrade', HANDSHAKE],
  ['an upgrade with a body', HANDSHAKE_WITH_BODY],
])(
  '%s that the client resets before it is accepted does not end the process',
  async (_, handshake) => {
    const held = Promise.withResolvers<Duplex>();
    const { port } = await start((_req, socket) => held.resolve(socket));
    openConnection(port).send(handshake);

    const socket = await held.promise;
    socket.destroy(new Error('read ECONNRESET'));
    await new Promise((resolve) => socket.once('close', resolve));

    expect(socket.destroyed).toBe(true);
  },
);

describe('close()', () => {
  test('lets the program close WebSockets, and then resolves', async () => {
    const { sockets, upgrade } = createEcho();
    const server = await start(upgrade);
    server.closing.addEventListener('abort', () => {
      for (const client of sockets.clients) client.close(1001);
    });
    const client = await openWebSocket(server.port);

    const [[code]] = await Promise.all([once(client, 'close'), server.close()]);

    expect(code).toBe(1001);
  });

  test('destroys WebSockets that stay open', async () => {
    const server = await start(createEcho().upgrade);
    const client = await openWebSocket(server.port);

    const [[code]] = await Promise.all([
      once(client, 'close'),
      server.close({ timeoutMs: 60_000 }),
    ]);

    expect(code).toBe(1006);
  });
});

test('listen rejects an upgrade option that is not a function', async () => {
  const options = { port: 0, upgrade: 'ws' } as unknown as ListenOptions;

  await expect(listen(createApp(), options)).rejects.toThrow(
    new TypeError('Cannot read option upgrade "ws" of listen(): expected a function'),
  );
});
