import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { createApp } from '../application.ts';
import { openConnection, quiet, recordLog } from '../testing/index.ts';
import { exchange, GET, serve } from '../testing/vitest.ts';
import { type ListenOptions, listen } from './listen.ts';

describe('listen', () => {
  test('selects a free port for 0 and logs the address', async () => {
    const { lines, logger } = recordLog();
    const app = createApp({ logger }).use((ctx) => ctx.send('here'));

    const server = await serve(app);
    const response = await fetch(`http://127.0.0.1:${server.port}/`);

    expect(server.port).toBeGreaterThan(0);
    expect(lines).toEqual([`info: Listening on http://127.0.0.1:${server.port}`]);
    expect(await response.text()).toBe('here');
  });

  test('listens on the given host, also IPv6', async () => {
    const { lines, logger } = recordLog();

    const server = await serve(createApp({ logger }), { host: '::1' });

    expect(lines).toEqual([`info: Listening on http://[::1]:${server.port}`]);
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

    await serve(app);

    expect(steps).toEqual(['plugin', 'listening']);
    await expect(listen(failing, 0)).rejects.toThrow('no database');
  });

  test.each([
    [{ keepAliveTimeoutMs: 2_000 }, [80_000, 300_000, 2_000]],
    [{ requestTimeoutMs: 1_000 }, [1_000, 1_000, 75_000]],
    [{ requestTimeoutMs: 0 }, [80_000, 0, 75_000]],
    [{ requestTimeoutMs: 0, headersTimeoutMs: 400_000 }, [400_000, 0, 75_000]],
  ])('with %j limits headers, requests and idle connections to %j', async (times, expected) => {
    const { server } = await serve(createApp({ logger: quiet }), times);

    const { headersTimeout, requestTimeout, keepAliveTimeout } = server;
    expect([headersTimeout, requestTimeout, keepAliveTimeout]).toEqual(expected);
  });
});

test.each<readonly [object, string]>([
  [
    { port: -1 },
    'Cannot read option port "-1" of listen(): expected a whole number from 0 to 65535',
  ],
  [{ port: 65_536 }, 'Cannot read option port "65536" of listen(): expected a whole number from 0'],
  [{ port: 0, hots: '::1' }, 'listen() has no option "hots"; its options: port, host, '],
  [
    { port: 0, headersTimeoutMs: 400_000, requestTimeoutMs: 1_000 },
    'Cannot read option headersTimeoutMs "400000" of listen(): expected at most requestTimeoutMs, which is 1000',
  ],
  [
    { port: 0, headersTimeoutMs: 400_000 },
    'Cannot read option headersTimeoutMs "400000" of listen(): expected at most requestTimeoutMs, which is 300000',
  ],
])('listen(app, %j) rejects: %s', async (options, message) => {
  const listening = listen(createApp({ logger: quiet }), options as ListenOptions);

  await expect(listening).rejects.toThrow(TypeError);
  await expect(listening).rejects.toThrow(message);
});

test.each([
  [{ lingerMs: -1 }, 'Cannot read option lingerMs "-1"'],
  [{ timeoutMs: -1 }, 'Cannot read option timeoutMs "-1"'],
  [
    { timeout: 5 },
    'close() has no option "timeout"; did you mean "timeoutMs"? Its options: lingerMs, timeoutMs',
  ],
])('close(%j) throws: %s', async (options, message) => {
  const server = await serve(createApp({ logger: quiet }));

  expect(() => server.close(options as object)).toThrow(message);
});

describe('close', () => {
  test.each([
    ['that is idle', GET, /\r\n\r\na$/],
    ['that was rejected and stays open', '\0\r\n\r\n', /400 Bad Request/],
  ])('closes a connection %s', async (_, bytes, response) => {
    const server = await serve((ctx) => ctx.send('a'));
    const connection = openConnection(server.port).send(bytes);
    await connection.read(response);
    const startedMs = performance.now();

    await server.close();

    // The connection would stay open for 75 s.
    expect(performance.now() - startedMs).toBeLessThan(30_000);
    connection.close();
  });

  test('serves idle connections during lingerMs, and sends Connection: close', async () => {
    const server = await serve((ctx) => ctx.send('here'));
    const connection = openConnection(server.port).send(GET);
    await connection.read(/here$/);

    const closed = server.close({ lingerMs: 10_000 });
    await sleep(100); // longer than the interval in which it would be closed
    const responses = await connection.send(GET).readAll();
    await closed;

    expect(responses.match(/here/g)).toHaveLength(2);
    expect(responses).toMatch(/Connection: close\r\n(?:.*\r\n)*\r\nhere$/);
  });

  test('rejects new connections, and can be called twice', async () => {
    const server = await serve(createApp({ logger: quiet }));

    await Promise.all([server.close(), server.close()]);

    await expect(fetch(`http://127.0.0.1:${server.port}/`)).rejects.toThrow('fetch failed');
  });
});

test('a WebSocket request is an ordinary request, unless the program handles the event of Node', async () => {
  const { port, server, close } = await serve((ctx) => ctx.send('no upgrade'));
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

// RFC 9110 §15.2: HTTP/1.0 has no interim responses
test.each<readonly [string, (res: ServerResponse) => void]>([
  ['100 Continue', (res) => res.writeContinue()],
  ['102 Processing', (res) => res.writeProcessing()],
  ['103 Early Hints', (res) => res.writeEarlyHints({ link: '</a.css>; rel=preload' })],
])('%s is only sent to HTTP/1.1 clients', async (status, write) => {
  const server = await serve((ctx) => {
    write(ctx.raw.res);
    ctx.send('done');
  });
  const responseTo = (version: string) =>
    exchange(
      server.port,
      `POST / HTTP/${version}\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n`,
    );

  expect(await responseTo('1.1')).toMatch(new RegExp(`^HTTP/1\\.1 ${status}\r\n`));
  expect(await responseTo('1.0')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

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
      const { problems, logger } = recordLog();
      const reached = Promise.withResolvers<void>();
      const over = Promise.withResolvers<void>();
      let reason: unknown;
      const app = createApp({ logger }).use(
        async (_ctx, next) => {
          await next().finally(over.resolve);
        },
        async (ctx) => {
          reached.resolve();
          ctx.signal.addEventListener('abort', () => {
            reason = ctx.signal.reason;
          });
          await work(ctx.signal);
          ctx.json({});
        },
      );
      const server = await serve(app);
      const connection = openConnection(server.port).send(GET);
      await reached.promise;

      connection.close();
      await over.promise;
      await sleep(20);

      expect(reason).toMatchObject({ name: 'AbortError' });
      expect(problems).toEqual([]);
    },
  );

  test('is already aborted if first read after the client disconnected', async () => {
    const seen = Promise.withResolvers<boolean>();
    const reached = Promise.withResolvers<void>();
    const app = createApp({ logger: quiet }).use(async (ctx) => {
      reached.resolve();
      await once(ctx.raw.res, 'close');
      seen.resolve(ctx.signal.aborted);
    });
    const server = await serve(app);
    const connection = openConnection(server.port).send(GET);
    await reached.promise;

    connection.close();

    expect(await seen.promise).toBe(true);
  });

  test('aborts when the deadline passes, measured from the start of the request', async () => {
    const app = createApp({ logger: quiet, deadlineMs: 2_000 }).use(async (ctx) => {
      await sleep(1_000);
      const startedMs = performance.now();
      await once(ctx.signal, 'abort');
      ctx.json({ name: ctx.signal.reason.name, waitedMs: performance.now() - startedMs });
    });
    const server = await serve(app);

    const seen = await (await fetch(`http://127.0.0.1:${server.port}/`)).json();

    expect(seen).toMatchObject({ name: 'TimeoutError' });
    expect((seen as { waitedMs: number }).waitedMs).toBeLessThan(1_900);
  });

  test('does not abort after the response is complete', async () => {
    const { promise, resolve } = Promise.withResolvers<AbortSignal>();
    const app = createApp({ logger: quiet, deadlineMs: 30 }).use((ctx) => {
      resolve(ctx.signal);
      ctx.json({});
    });
    const server = await serve(app);

    await (await fetch(`http://127.0.0.1:${server.port}/`)).text();
    await sleep(60);

    expect((await promise).aborted).toBe(false);
  });
});
