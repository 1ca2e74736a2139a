import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { expect, onTestFinished, test, vi } from 'vitest';

import { createApp } from '../application.ts';
import type { Context, Middleware } from '../context.ts';
import { acceptUpgrades, closingSignal, switchProtocols } from '../extension.ts';
import { http } from '../node/http.ts';
import { openConnection, quiet, recordLog, request } from '../testing/index.ts';
import { exchange, GET, serve } from '../testing/vitest.ts';
import type { CloseOptions } from './close.ts';
import { listen } from './listen.ts';

acceptUpgrades();

const HANDSHAKE = GET.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');

/** A server whose warnings are kept. Its timers and its clock stand still until a test moves them. */
async function start(middleware: Middleware) {
  const { logger, problems } = recordLog();
  const { close, ...server } = await serve(createApp({ logger }).use(middleware));
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  /** Resolves when the server has begun to close its connections. */
  const beginClose = async (options: CloseOptions) => {
    const closed = close(options);
    if (!server.closing.aborted) await once(server.closing, 'abort');
    return { closed };
  };
  return { ...server, beginClose, problems };
}

type Server = Awaited<ReturnType<typeof start>>;

/** A client's connection, and the socket of the server once that has received `bytes`. */
async function open({ server, port }: Server, bytes: string) {
  const accepted = once(server, 'connection');
  const connection = openConnection(port).send(bytes);
  onTestFinished(() => connection.close());
  const [socket] = await accepted;
  while (socket.bytesRead < bytes.length) await nextTurn();
  return { connection, socket };
}

const HALF_A_HEAD = 'GET / HTTP/1.1\r\nHos';

test.each<readonly [string, string, CloseOptions, number]>([
  ['that has sent nothing when lingerMs is over', '', { lingerMs: 2_000 }, 2_000],
  ['with half a head a second after lingerMs', HALF_A_HEAD, { lingerMs: 2_000 }, 3_000],
  ['with half a head at the time limit', HALF_A_HEAD, { timeoutMs: 500 }, 500],
  ['with a response in progress at the time limit', GET, { timeoutMs: 4_000 }, 4_000],
])('close() destroys a connection %s', async (_, bytes, options, afterMs) => {
  const server = await start(() => new Promise(() => {}));
  const { socket } = await open(server, bytes);
  const { closed } = await server.beginClose(options);

  vi.advanceTimersByTime(afterMs - 1);
  const wasDestroyed = socket.destroyed;
  vi.advanceTimersByTime(1);

  expect([wasDestroyed, socket.destroyed]).toEqual([false, true]);
  await closed;
});

test.each([
  ['that takes long if there is no time limit', { timeoutMs: 0 }, 9_000],
  ['up to its time limit', { timeoutMs: 200 }, 199],
])('close() waits for a response %s, and logs nothing', async (_, options, waitMs) => {
  const { promise, resolve: respond } = Promise.withResolvers<void>();
  const server = await start(async (ctx) => {
    await promise;
    ctx.send('done');
  });
  const { connection } = await open(server, GET);
  const { closed } = await server.beginClose(options);

  vi.advanceTimersByTime(waitMs);
  respond();

  expect(await connection.readAll()).toMatch(/\r\nConnection: close\r\n.*done$/s);
  connection.close();
  await closed;
  expect(server.problems).toEqual([]);
});

test('close() logs how many responses its time limit ends, without those of clients that left', async () => {
  const server = await start(() => new Promise(() => {}));
  const left = await open(server, GET);
  left.connection.close();
  await once(left.socket, 'close');
  await open(server, GET);
  await open(server, GET);
  await open(server, HALF_A_HEAD);
  const { closed } = await server.beginClose({ timeoutMs: 99.5 });

  vi.advanceTimersByTime(100);
  await closed;

  expect(server.problems).toEqual([
    'warn: close() reached its limit of 100 ms; incomplete responses: 2',
  ]);
});

test('close() completes a response that its client reads slowly, also beside other connections', async () => {
  const server = await start((ctx) => ctx.send(Buffer.alloc(20_000_000)));
  const accepted = once(server.server, 'connection');
  const reader = connect(server.port, '127.0.0.1').pause();
  reader.write(GET);
  const [socket] = await accepted;
  while (socket.writableLength === 0) await nextTurn();
  const other = await open(server, '');
  const { closed } = await server.beginClose({});

  vi.advanceTimersByTime(1_000);

  expect([socket.destroyed, other.socket.destroyed]).toEqual([false, true]);
  let received = 0;
  reader.resume().on('data', (chunk) => {
    received += chunk.length;
  });
  while (received < 20_000_000) await nextTurn();
  vi.advanceTimersByTime(50);
  await closed;
});

test('close() serves connections that wait at the port', async () => {
  const server = await start((ctx) => ctx.send('here'));
  const connections = Array.from({ length: 10 }, () => openConnection(server.port).send(GET));
  await new Promise<void>((resolve) => process.nextTick(resolve)); // then they are connecting

  const { closed } = await server.beginClose({});

  const responses = await Promise.all(connections.map(({ read }) => read(/here$/)));
  expect(responses).toHaveLength(10);
  vi.advanceTimersByTime(50);
  for (const connection of connections) connection.close();
  await closed;
});

test.each<readonly [CloseOptions, readonly number[]]>([
  [{}, [0, 0, 0, 0]],
  [{ lingerMs: 1_000 }, [0, 250, 500, 750]],
  [{ lingerMs: 1_000, timeoutMs: 400 }, [0, 100, 200, 300]],
])('close(%o) asks upgraded connections to go away after %o ms', async (options, expected) => {
  const askedAtMs: number[] = [];
  const server = await start((ctx) =>
    switchProtocols(ctx, ({ socket }) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
      socket.resume().on('end', () => socket.end());
      const goAway = () => {
        askedAtMs.push(performance.now() - startMs);
        socket.destroy();
      };
      return { goAway, closed: Promise.resolve(1000) };
    }),
  );
  const clients = [];
  for (let count = 0; count < 5; count++) clients.push(await open(server, HANDSHAKE));
  await Promise.all(clients.map(({ connection }) => connection.read(/\r\n\r\n/)));
  clients[2]?.connection.close();
  await once(clients[2]?.socket, 'close'); // it is not asked
  vi.advanceTimersByTime(10_000);
  const startMs = performance.now();

  const { closed } = await server.beginClose(options);
  vi.advanceTimersByTime(1_000);
  await closed;

  expect(askedAtMs).toEqual(expected);
});

test('close() leaves no timer', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await serve(createApp({ logger: quiet }));

  await server.close();

  expect(vi.getTimerCount()).toBe(0);
});

test('close() rejects if the program has closed the server of Node', async () => {
  const { server, close } = await listen(createApp({ logger: quiet }), 0);

  server.close();

  await expect(close()).rejects.toThrow('Server is not running');
});

test('closingSignal aborts for the requests in progress when the server closes', async () => {
  const app = createApp({ logger: quiet }).get(
    '/',
    (ctx) =>
      new Promise((resolve) => {
        closingSignal(ctx).addEventListener('abort', () => resolve('last event'));
      }),
  );
  const { server, port, close } = await serve(app);
  const begun = new Promise((resolve) => server.once('request', resolve));
  const connection = openConnection(port).send(GET);
  await begun;

  const [response] = await Promise.all([connection.readAll(), close()]);

  expect(response).toContain('last event');
});

test('closingSignal never aborts in a server that listen did not start', async () => {
  const contexts: Context[] = [];
  const app = createApp().use((ctx) => {
    contexts.push(ctx);
    ctx.send('here');
  });
  const server = http.createServer(app.handle).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };

  await exchange(port, GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  await request(app, '/');

  expect(contexts.map((ctx) => closingSignal(ctx).aborted)).toEqual([false, false]);
});
