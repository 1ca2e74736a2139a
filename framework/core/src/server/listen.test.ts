import { once } from 'node:events';
import { Agent, get, type ServerResponse } from 'node:http';
import { connect, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { createApp } from '../application.ts';
import { http } from '../node/http.ts';
import { openConnection } from '../testing/index.ts';
import { type ListenOptions, listen } from './listen.ts';

/** A client that requests `/` and reads the response in pieces, with a pause after each. */
function openSlowReader(port: number) {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  let received = 0;
  socket.on('data', (chunk) => {
    received += chunk.length;
    socket.pause();
    setTimeout(() => socket.resume(), 2);
  });
  const ended = new Promise<number>((resolve) => {
    socket.on('error', () => {}).on('close', () => resolve(received));
  });
  return { socket, begun: once(socket, 'data'), ended };
}

function createLog() {
  const lines: string[] = [];
  const keep = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  return { lines, logger: { info: keep('info'), warn: keep('warn'), error: keep('error') } };
}

const quiet = createLog().logger;

/** A promise, and the function that resolves it. */
function createGate(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

// Q11
describe('listen', () => {
  test('selects a free port for 0 and logs the address', async () => {
    const { lines, logger } = createLog();
    const app = createApp({ logger }).use((ctx) => ctx.send('here'));

    const server = await listen(app, 0);
    const response = await fetch(`http://127.0.0.1:${server.port}/`);

    expect(server.port).toBeGreaterThan(0);
    expect(lines).toEqual([`info Listening on http://127.0.0.1:${server.port}`]);
    expect(await response.text()).toBe('here');
    await server.close();
  });

  test('listens on the given host, also IPv6', async () => {
    const { lines, logger } = createLog();

    const server = await listen(createApp({ logger }), { port: 0, host: '::1' });

    expect(lines).toEqual([`info Listening on http://[::1]:${server.port}`]);
    await server.close();
  });

  test('rejects with one line that names the address when the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };

    const listening = listen(createApp({ logger: quiet }), port);

    await expect(listening).rejects.toMatchObject({
      message: `Cannot listen on 127.0.0.1:${port}: the port is in use`,
      cause: { code: 'EADDRINUSE' },
    });
    other.close();
  });

  test.each([
    ['a port that is none', { port: 70_000 }, /port/],
    [
      'an address of another machine',
      { port: 0, host: '192.0.2.1' },
      /^Cannot listen on 192\.0\.2\.1:0: this machine does not have this address$/,
    ],
    [
      'an unknown host',
      { port: 0, host: 'no-such-host.invalid' },
      /^Cannot listen on no-such-host\.invalid:0: /,
    ],
  ])('rejects for %s', async (_, options, message) => {
    await expect(listen(createApp({ logger: quiet }), options)).rejects.toThrow(message);
  });

  test('waits for plugins, and rejects with the first failure', async () => {
    const steps: string[] = [];
    const app = createApp({ logger: { ...quiet, info: () => void steps.push('listening') } });
    app.plugin(async () => {
      await sleep(20);
      steps.push('plugin');
    });
    const failing = createApp({ logger: quiet })
      .plugin(async () => {
        throw new Error('no database');
      })
      .plugin(() => {
        throw new Error('no cache');
      });

    const server = await listen(app, 0);

    expect(steps).toEqual(['plugin', 'listening']);
    await expect(listen(failing, 0)).rejects.toThrow('no database');
    await server.close();
  });

  test.each([
    [{}, [80_000, 300_000]],
    [{ requestTimeoutMs: 1_000 }, [1_000, 1_000]],
    [{ requestTimeoutMs: 0 }, [80_000, 0]],
    [{ requestTimeoutMs: 0, headersTimeoutMs: 400_000 }, [400_000, 0]],
  ])('with %j sets the limits for headers and requests to %j', async (times, expected) => {
    const { server, close } = await listen(createApp({ logger: quiet }), { port: 0, ...times });

    expect([server.headersTimeout, server.requestTimeout]).toEqual(expected);
    await close();
  });

  test('sends 408 if the headers take too long', async () => {
    const server = await listen(createApp({ logger: quiet }), { port: 0, headersTimeoutMs: 20 });
    const connection = openConnection(server.port).send('GET / HTTP/1.1\r\nHost');

    const response = await connection.readAll();

    expect(response).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(response).toContain('"code":"REQUEST_TIMEOUT"');
    connection.close();
    await server.close();
  });

  test('announces and keeps its keep-alive time-out', async () => {
    const app = createApp({ logger: quiet }).use((ctx) => ctx.send('a'));
    const server = await listen(app, { port: 0, keepAliveTimeoutMs: 2_000 });
    const connection = openConnection(server.port);

    const response = await connection.send(GET).read(/\r\n\r\na$/);

    expect(response).toContain('Keep-Alive: timeout=2\r\n');
    connection.close();
    await server.close();
  });
});

test('listen and close reject unknown options', async () => {
  const app = createApp({ logger: quiet });
  const server = await listen(app, 0);

  await expect(listen(app, { port: 0, hots: '::1' } as object as ListenOptions)).rejects.toThrow(
    /^listen\(\) has no option "hots"; its options: port, host, .*$/,
  );
  expect(() => server.close({ timeout: 5 } as object)).toThrow(
    'close() has no option "timeout"; did you mean "timeoutMs"? Its options: lingerMs, timeoutMs',
  );
  await server.close();
});

test.each([Number.NaN, -1, 65_536, 80.5])('listen rejects port %d in one line', async (port) => {
  await expect(listen(createApp({ logger: quiet }), port)).rejects.toThrow(
    new TypeError(
      `Cannot read option port "${port}" of listen(): expected a whole number from 0 to 65535`,
    ),
  );
});

describe('close', () => {
  test('waits for requests in flight, and sends Connection: close', async () => {
    const gate = createGate();
    const reached = createGate();
    const app = createApp({ logger: quiet }).use(async (ctx) => {
      reached.open();
      await gate.opened;
      ctx.send('done');
    });
    const server = await listen(app, 0);
    const connection = openConnection(server.port).send(GET);
    await reached.opened;
    let isClosed = false;

    const closed = server.close().then(() => {
      isClosed = true;
    });
    await sleep(150);
    const wasClosed = isClosed;
    gate.open();
    const response = await connection.readAll();
    await closed;

    expect(wasClosed).toBe(false);
    expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(response).toContain('Connection: close\r\n');
    expect(response).toMatch(/\r\n\r\ndone$/);
  });

  test.each([
    [
      'that is idle',
      async (port: number) => {
        const connection = openConnection(port).send(GET);
        await connection.read(/\r\n\r\na$/);
        return connection;
      },
    ],
    [
      'that has sent nothing',
      async (port: number) => {
        const connection = openConnection(port);
        await sleep(30);
        return connection;
      },
    ],
    [
      'that was rejected and stays open',
      async (port: number) => {
        const connection = openConnection(port).send('\0\r\n\r\n');
        await connection.readAll();
        return connection;
      },
    ],
  ])('closes a connection %s', async (_, open) => {
    const server = await listen(
      createApp({ logger: quiet }).use((ctx) => ctx.send('a')),
      0,
    );
    const connection = await open(server.port);
    const startedMs = performance.now();

    await server.close();

    // The connection would stay open for 75 s.
    expect(performance.now() - startedMs).toBeLessThan(30_000);
    connection.close();
  });

  test('serves idle connections during lingerMs, and sends Connection: close', async () => {
    const app = createApp({ logger: quiet }).use((ctx) => ctx.send('here'));
    const server = await listen(app, 0);
    const connection = openConnection(server.port).send(GET);
    await connection.read(/here$/);

    const closed = server.close({ lingerMs: 10_000 });
    await sleep(100); // longer than the interval in which it would be closed
    const responses = await connection.send(GET).readAll();
    await closed;

    expect(responses.match(/here/g)).toHaveLength(2);
    expect(responses).toMatch(/Connection: close\r\n(?:.*\r\n)*\r\nhere$/);
  });

  test('serves a pipelined request, and closes the connection', async () => {
    const gate = createGate();
    const app = createApp({ logger: quiet }).use(async (ctx) => {
      if (ctx.path === '/slow') await gate.opened;
      ctx.send(ctx.path);
    });
    const server = await listen(app, 0);
    const connection = openConnection(server.port).send(
      'GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n',
    );
    await sleep(30);

    const closed = server.close();
    gate.open();
    const response = await connection.readAll();
    await closed;

    expect(response).toMatch(/\/slow/);
  });

  test.each([
    ['a whole response', () => Buffer.alloc(20_000_000)],
    ['a stream', () => Readable.from(Array.from({ length: 200 }, () => Buffer.alloc(100_000)))],
  ])('sends the rest of %s to a slow client', async (_, createBody) => {
    const app = createApp({ logger: quiet }).use((ctx) => ctx.send(createBody()));
    const server = await listen(app, 0);
    const reader = openSlowReader(server.port);
    await reader.begun;

    await server.close();

    expect(await reader.ended).toBeGreaterThan(20_000_000);
  });

  test('closes idle connections while another response is being sent', async () => {
    const app = createApp({ logger: quiet }).use((ctx) =>
      ctx.send(ctx.path === '/' ? Buffer.alloc(20_000_000) : 'idle'),
    );
    const server = await listen(app, 0);
    const stalled = connect({ port: server.port, host: '127.0.0.1' });
    stalled.write(GET);
    const idle = openConnection(server.port).send('GET /idle HTTP/1.1\r\nHost: a\r\n\r\n');
    await idle.read(/idle$/);

    const closed = server.close();
    await idle.readAll();
    stalled.destroy();
    await closed;
  });

  test.each([-1, Number.NaN, 2 ** 31])('rejects a time limit of %d', async (timeoutMs) => {
    const server = await listen(createApp({ logger: quiet }), 0);

    await expect(async () => server.close({ timeoutMs })).rejects.toThrow(
      `Cannot read option timeoutMs "${timeoutMs}"`,
    );
    await server.close();
  });

  test('rejects new connections, and can be called twice', async () => {
    const server = await listen(createApp({ logger: quiet }), 0);

    await Promise.all([server.close(), server.close()]);

    await expect(fetch(`http://127.0.0.1:${server.port}/`)).rejects.toThrow('fetch failed');
  });
});

test('a WebSocket request is an ordinary request, unless the program handles the event of Node', async () => {
  const { port, server, close } = await listen(
    createApp().get('/', () => 'no upgrade'),
    0,
  );
  const handshake = GET.replace(
    '\r\n\r\n',
    '\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
  );

  const ordinary = openConnection(port).send(handshake);
  expect(await ordinary.read(/no upgrade/)).toMatch(/^HTTP\/1\.1 200 OK/);
  server.on('upgrade', (_req, socket) => socket.write('taken over'));
  const upgraded = openConnection(port).send(handshake);
  expect(await upgraded.read(/over/)).toBe('taken over');

  await close({ timeoutMs: 60_000 }); // destroys the connection
  ordinary.close();
});

test('app.handle is a request listener of node:http', async () => {
  const { handle } = createApp({ logger: quiet }).use((ctx) => ctx.set('X-A', ['1', '2']).json({}));
  const server = http.createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };

  const response = await fetch(`http://127.0.0.1:${port}/`);

  expect(response.headers.get('x-a')).toBe('1, 2');
  expect(await response.json()).toEqual({});
  server.close();
});

// RFC 9110 §15.2: HTTP/1.0 has no interim responses
test.each<readonly [string, (res: ServerResponse) => void]>([
  ['100 Continue', (res) => res.writeContinue()],
  ['102 Processing', (res) => res.writeProcessing()],
  ['103 Early Hints', (res) => res.writeEarlyHints({ link: '</a.css>; rel=preload' })],
])('%s is only sent to HTTP/1.1 clients', async (status, write) => {
  const app = createApp({ logger: quiet }).use((ctx) => {
    write(ctx.raw.res);
    ctx.send('done');
  });
  const server = await listen(app, 0);
  const responseTo = (version: string) =>
    openConnection(server.port)
      .send(
        `POST / HTTP/${version}\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n`,
      )
      .readAll();

  expect(await responseTo('1.1')).toMatch(new RegExp(`^HTTP/1\\.1 ${status}\r\n`));
  expect(await responseTo('1.0')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  await server.close();
});

// Q12
describe('ctx.signal', () => {
  test.each<readonly [string, (signal: AbortSignal) => unknown]>([
    ['waits for the signal', (signal) => sleep(5_000, undefined, { signal })],
    [
      'throws the reason',
      async (signal) => {
        await sleep(5_000, undefined, { signal }).catch(() => signal.throwIfAborted());
      },
    ],
    ['continues', (signal) => once(signal, 'abort')],
  ])(
    'aborts when the client disconnects from a handler that %s, without a log entry',
    async (_, work) => {
      const { lines, logger } = createLog();
      const reached = createGate();
      const over = createGate();
      let reason: unknown;
      const app = createApp({ logger }).use(
        async (_ctx, next) => {
          await next().finally(over.open);
        },
        async (ctx) => {
          reached.open();
          ctx.signal.addEventListener('abort', () => {
            reason = ctx.signal.reason;
          });
          await work(ctx.signal);
          ctx.json({});
        },
      );
      const server = await listen(app, 0);
      const connection = openConnection(server.port).send(GET);
      await reached.opened;

      connection.close();
      await over.opened;
      await sleep(20);

      expect(reason).toMatchObject({ name: 'AbortError' });
      expect(lines.filter((line) => line.startsWith('error'))).toEqual([]);
      await server.close();
    },
  );

  test('is already aborted if first read after the client disconnected', async () => {
    const seen = Promise.withResolvers<boolean>();
    const reached = createGate();
    const app = createApp({ logger: quiet }).use(async (ctx) => {
      reached.open();
      await once(ctx.raw.res, 'close');
      seen.resolve(ctx.signal.aborted);
    });
    const server = await listen(app, 0);
    const connection = openConnection(server.port).send(GET);
    await reached.opened;

    connection.close();

    expect(await seen.promise).toBe(true);
    await server.close();
  });

  test('aborts when the deadline passes, measured from the start of the request', async () => {
    const app = createApp({ logger: quiet, deadlineMs: 2_000 }).use(async (ctx) => {
      await sleep(1_000);
      const startedMs = performance.now();
      await once(ctx.signal, 'abort');
      ctx.json({ name: ctx.signal.reason.name, waitedMs: performance.now() - startedMs });
    });
    const server = await listen(app, 0);

    const seen = await (await fetch(`http://127.0.0.1:${server.port}/`)).json();

    expect(seen).toMatchObject({ name: 'TimeoutError' });
    expect((seen as { waitedMs: number }).waitedMs).toBeLessThan(1_900);
    await server.close();
  });

  test.each<readonly [string, (signal: AbortSignal) => Promise<unknown>]>([
    ['its reason', (signal) => once(signal, 'abort').then(() => signal.throwIfAborted())],
    ['an error of Node that wraps it', (signal) => sleep(5_000, undefined, { signal })],
  ])('causes a 503 at the deadline if the handler throws %s', async (_, work) => {
    const { lines, logger } = createLog();
    const app = createApp({ logger, deadlineMs: 20 }).use((ctx) => work(ctx.signal));
    const server = await listen(app, 0);

    const response = await fetch(`http://127.0.0.1:${server.port}/`);

    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(lines.at(-1)).toMatch(/^error GET \/ failed with 503 /);
    await server.close();
  });

  test('does not turn another time-out of the handler into a 503', async () => {
    const app = createApp({ logger: quiet, deadlineMs: 5_000 }).use(async (ctx) => {
      ctx.signal.throwIfAborted();
      await once(AbortSignal.timeout(1), 'abort');
      throw new DOMException('The store took too long', 'TimeoutError');
    });
    const server = await listen(app, 0);

    expect((await fetch(`http://127.0.0.1:${server.port}/`)).status).toBe(500);
    await server.close();
  });

  test('does not abort after the response is complete', async () => {
    const { promise, resolve } = Promise.withResolvers<AbortSignal>();
    const app = createApp({ logger: quiet, deadlineMs: 30 }).use((ctx) => {
      resolve(ctx.signal);
      ctx.json({});
    });
    const server = await listen(app, 0);

    await (await fetch(`http://127.0.0.1:${server.port}/`)).text();
    await sleep(60);

    expect((await promise).aborted).toBe(false);
    await server.close();
  });

  test.each([
    ['in the middle of a stream', false],
    ['before the stream begins', true],
  ])(
    'a client that disconnects %s causes no error, and the stream is destroyed',
    async (_, isEarly) => {
      const { lines, logger } = createLog();
      const stream = new Readable({ read() {} });
      stream.push('first');
      const app = createApp({ logger }).use(async (ctx) => {
        if (isEarly) {
          request.destroy();
          await once(ctx.raw.res, 'close');
        }
        ctx.send(stream);
      });
      const server = await listen(app, 0);
      const ended = new Promise((resolve) => stream.on('close', resolve).on('error', () => {}));

      const request = get({ port: server.port, host: '127.0.0.1', agent: new Agent() });
      request.on('error', () => {}).on('response', () => request.destroy());
      await ended;
      await sleep(20);

      expect(lines.filter((line) => line.startsWith('error'))).toEqual([]);
      await server.close();
    },
  );
});

test.each([
  [{ headersTimeoutMs: 400_000, requestTimeoutMs: 1_000 }, 1_000],
  [{ headersTimeoutMs: 400_000 }, 300_000],
])(
  'listen with %o rejects with the names headersTimeoutMs and requestTimeoutMs',
  async (timeouts, most) => {
    await expect(listen(createApp(), { port: 0, ...timeouts })).rejects.toThrow(
      new TypeError(
        `Cannot read option headersTimeoutMs "400000" of listen(): expected at most requestTimeoutMs, which is ${most}`,
      ),
    );
  },
);
