import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { openConnection } from '../testing/index.ts';
import { exchange, GET, serve } from '../testing/vitest.ts';

const CONNECT = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n';
/** The body is incomplete: Node passes a stream for the data after it. */
const CONNECT_WITH_BODY = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nContent-Length: 9\r\n\r\nbody';

const statusesOf = (text: string) => text.match(/(?<=HTTP\/1\.1 )\d+/g)?.map(Number);

/** A server whose responses wait for `respond`. */
async function serveSlowly() {
  const { promise, resolve: respond } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const server = await serve(async (ctx) => {
    begun.resolve();
    await promise;
    ctx.send('slow');
  });
  return { ...server, begun: begun.promise, respond };
}

test.each([
  ['garbage', 'INVALID\r\n\r\n', 400],
  ['an invalid Content-Length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1x\r\n\r\n', 400],
  ['a large head', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['an unknown method', 'FOO / HTTP/1.1\r\nHost: a\r\n\r\n', 501],
  ['CONNECT', CONNECT, 501],
  ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n', 417],
  ['an incomplete head', 'GET / HTTP/1.1\r\nHost: a\r\n', 408],
])('the response to %s has one Date', async (_, request, status) => {
  // Short only where it ends the request: a busy process reads the others later than that.
  const options = status === 408 ? { headersTimeoutMs: 50 } : {};
  const server = await serve((ctx) => ctx.send('here'), options);

  const text = await exchange(server.port, request);

  expect(statusesOf(text)).toEqual([status]);
  expect(text.match(/^Date: .*$/gim)).toEqual([
    expect.stringMatching(/^Date: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/),
  ]);
});

describe.each([
  ['CONNECT', CONNECT],
  ['CONNECT with a body', CONNECT_WITH_BODY],
])('%s', (_, request) => {
  test('followed by a reset leaves the server running', async () => {
    const { port, server } = await serve((ctx) => ctx.send('here'));
    const failed = Promise.withResolvers<void>();
    server.on('connect', (req) => {
      req.socket.destroy(new Error('write ECONNRESET')).once('close', failed.resolve);
    });

    const connection = openConnection(port).send(request);
    await failed.promise;

    connection.close();
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(await response.text()).toBe('here');
  });

  test('after a slow request is rejected once that has its response', async () => {
    const { port, begun, respond } = await serveSlowly();

    const connection = openConnection(port).send(GET + GET + request);
    await begun;
    await nextTurn();
    respond();

    expect(statusesOf(await connection.readAll())).toEqual([200, 200, 501]);
  });

  test('followed by data without an end is rejected, and the data is discarded', async () => {
    const { port, server, begun, respond } = await serveSlowly();
    const connected = once(server, 'connect');
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    const closed = once(socket.resume(), 'close');

    socket.write(GET + request);
    await Promise.all([begun, connected]);
    const [{ socket: remote }] = await connected;
    for (let sent = 0; sent < 32; sent++) {
      await new Promise((resolve) => socket.write(Buffer.alloc(1024 ** 2), resolve));
    }
    expect(remote.readableLength).toBeLessThan(1024 ** 2);
    respond();

    await closed;
  });

  test('does not stop a large response before it', async () => {
    const size = 40_000_000;
    const { port } = await serve((ctx) =>
      ctx.send(new Blob([Buffer.alloc(size)]).stream() as ReadableStream),
    );
    const socket = connect(port, '127.0.0.1').pause();
    onTestFinished(() => void socket.destroy());

    socket.write(GET + request);
    await once(socket, 'readable');
    let received = 0;
    let end = '';
    for await (const chunk of socket) {
      received += chunk.length;
      end = (end + chunk.toString('latin1')).slice(-500);
    }

    expect(received).toBeGreaterThan(size);
    expect(end).toContain('"status":501');
  });
});

test('data that is not HTTP after a slow request is rejected once that has its response', async () => {
  const { port, begun, respond } = await serveSlowly();

  const connection = openConnection(port).send(`${GET}${GET}INVALID\r\n\r\n`);
  await begun;
  await nextTurn();
  respond();

  expect(statusesOf(await connection.readAll())).toEqual([200, 200, 400]);
});

test('a rejected request leaves no timer when its client has closed the connection', async () => {
  const { port, server } = await serve((ctx) => ctx.send('here'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const accepted = once(server, 'connection');

  const socket = connect(port, '127.0.0.1').resume();
  socket.end('INVALID\r\n\r\n');
  const [serverSocket] = await accepted;
  await once(serverSocket, 'close');

  expect(vi.getTimerCount()).toBe(0);
});

test('a client that stays connected after a rejected request is disconnected a second later', async () => {
  const { port, server } = await serve((ctx) => ctx.send('here'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const accepted = once(server, 'connection');
  await openConnection(port).send('INVALID\r\n\r\n').readAll();
  const [serverSocket] = await accepted;

  vi.advanceTimersByTime(999);
  const wasDestroyed = serverSocket.destroyed;
  vi.advanceTimersByTime(1);

  expect([wasDestroyed, serverSocket.destroyed]).toEqual([false, true]);
});

test('more data after a rejected request does not reset its response', async () => {
  const { port, server } = await serve((ctx) => ctx.send('here'));
  const connection = openConnection(port).send('INVALID\r\n\r\n');
  await connection.readAll();
  const rejected = once(server, 'clientError');

  connection.send('more');

  const [, serverSocket] = await rejected;
  expect(serverSocket.destroyed).toBe(false);
  connection.close();
});
