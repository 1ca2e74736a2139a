import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';

import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { createApp } from '../application.ts';
import type { Context, Middleware } from '../context.ts';
import {
  acceptUpgrades,
  isUpgrade,
  onSent,
  recordedBody,
  switchProtocols,
  type TakeOver,
  upgradedConnection,
} from '../extension.ts';
import { http } from '../node/http.ts';
import { openConnection, recordLog } from '../testing/index.ts';
import { serve } from '../testing/vitest.ts';
import type { ListeningServer } from './listen.ts';
import { dispatchUpgrades } from './upgrade.ts';

acceptUpgrades();

const requestOf = (...headers: readonly string[]) =>
  ['GET /chat HTTP/1.1', 'Host: a', ...headers, '', ''].join('\r\n');
const ORDINARY = requestOf('Connection: close');
const HANDSHAKE = requestOf('Connection: Upgrade', 'Upgrade: websocket');
const HEAD = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';

/** Sends the 101 response. */
const accept: TakeOver = ({ socket, headers }) => {
  socket.write(`${HEAD}${headers.map((line) => `${line}\r\n`).join('')}\r\n`);
  return { goAway: () => void socket.destroy(), closed: Promise.resolve(1000) };
};

/** A server, and what it logs. */
async function start(...middleware: readonly Middleware[]) {
  const { logger, ...logged } = recordLog();
  const server = await serve(createApp({ logger }).use(...middleware));
  return { ...server, ...logged };
}

function send({ port }: Pick<ListeningServer, 'port'>, bytes: string) {
  const connection = openConnection(port).send(bytes);
  onTestFinished(() => connection.close());
  return connection;
}

const OMITTED =
  'Content-Type content-length Content-Language Connection upgrade Keep-Alive Date Sec-WebSocket-Protocol';

describe('the headers for the 101 response', () => {
  test.for<readonly [string, (ctx: Context) => unknown, readonly string[]]>([
    [
      'in their order, one line for each value',
      (ctx) =>
        ctx
          .set('X-B', '2')
          .set('X-A', [])
          .set('Set-Cookie', ['a=1', 'b=2'])
          .set('X-C', 1)
          .append('Set-Cookie', 'c=3'),
      ['X-B: 2', 'Set-Cookie: a=1', 'Set-Cookie: b=2', 'Set-Cookie: c=3', 'X-C: 1'],
    ],
    [
      'without those of a body and of the upgrade',
      (ctx) => {
        for (const name of OMITTED.split(' ')) ctx.set(name, '1');
        ctx.set('X-Content-Type', 'a').set('X-Date', 'b').set('Dates', 'c');
      },
      ['X-Content-Type: a', 'X-Date: b', 'Dates: c'],
    ],
  ])('are %s', async ([, set, lines]) => {
    const server = await start((ctx) => {
      set(ctx);
      switchProtocols(ctx, accept);
    });

    const head = await send(server, HANDSHAKE).read(/\r\n\r\n/);

    expect(head).toBe(`${HEAD}${lines.map((line) => `${line}\r\n`).join('')}\r\n`);
  });
});

describe('an upgrade', () => {
  test('takes the connection over once all middleware has run', async () => {
    const seen: unknown[] = [];
    const takeOver = vi.fn(accept);
    const server = await start(
      async (ctx, next) => {
        await next();
        seen.push(ctx.status, ctx.responded, recordedBody(ctx), takeOver.mock.calls.length);
      },
      (ctx) => switchProtocols(ctx, takeOver),
    );

    await send(server, HANDSHAKE).read(/\r\n\r\n/);

    expect(seen).toEqual([101, true, '', 0]);
    expect(takeOver).toHaveBeenCalledOnce();
  });

  test('is reported to onSent with its connection; the request is no longer upgradable', async () => {
    const sent = Promise.withResolvers<unknown[]>();
    const before: unknown[] = [];
    const connection = { goAway() {}, closed: Promise.resolve(1000) };
    const server = await start((ctx) => {
      before.push(isUpgrade(ctx), upgradedConnection(ctx));
      onSent(ctx, (status) => sent.resolve([status, upgradedConnection(ctx), isUpgrade(ctx)]));
      switchProtocols(ctx, (raw) => {
        accept(raw);
        return connection;
      });
    });

    await send(server, HANDSHAKE).read(/\r\n\r\n/);

    expect(before).toEqual([true, undefined]);
    const [status, reported, isStillUpgradable] = await sent.promise;
    expect([status, isStillUpgradable]).toEqual([101, false]);
    expect(reported).toBe(connection);
  });
});

describe('an upgraded connection', () => {
  test('receives what the client sent with the request and after it', async () => {
    const server = await start((ctx) =>
      switchProtocols(ctx, (raw) => {
        const connection = accept(raw);
        raw.socket.write(`<${raw.head}>`);
        raw.socket.on('data', (data) => raw.socket.write(`<${data}>`));
        return connection;
      }),
    );

    const connection = send(server, `${HANDSHAKE}early`);
    await connection.read(/<early>$/);

    expect(await connection.send('late').read(/<late>$/)).toMatch(/\r\n\r\n<early><late>$/);
  });

  test('can still send after the client has ended its side', async () => {
    const server = await start((ctx) =>
      switchProtocols(ctx, (raw) => {
        raw.socket.resume().on('end', () => raw.socket.end('goodbye'));
        return accept(raw);
      }),
    );
    const client = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    onTestFinished(() => void client.destroy());
    client.write(HANDSHAKE);
    const [head] = await once(client, 'data');

    client.end();

    expect(String(head)).toMatch(/^HTTP\/1\.1 101 /);
    expect(Buffer.concat(await client.toArray()).toString()).toBe('goodbye');
  });
});

describe('a request gets no upgrade', () => {
  const upgrade: Middleware = (ctx) => switchProtocols(ctx, accept);
  const CANNOT = ['Error: Cannot upgrade this request'];
  const withConnection = HANDSHAKE.replace('Connection: Upgrade', 'Connection: Upgrade, close');
  const WITH_BODY = withConnection.replace('\r\n\r\n', '\r\nContent-Length: 2\r\n\r\nab');

  test.for<readonly [string, string, Middleware, number, readonly string[]]>([
    ['if it does not ask for one', ORDINARY, upgrade, 500, CANNOT],
    ['if it has a body', WITH_BODY, upgrade, 500, CANNOT],
    [
      'if its handler responds again',
      HANDSHAKE,
      (ctx) => {
        switchProtocols(ctx, accept);
        ctx.json({});
      },
      500,
      ['Error: Cannot respond with ctx.json(): an upgrade already responded'],
    ],
    [
      'if an error follows',
      HANDSHAKE,
      (ctx) => {
        switchProtocols(ctx, accept);
        ctx.throw(403);
      },
      403,
      [],
    ],
    [
      'if its connection cannot be taken over',
      HANDSHAKE,
      (ctx) => switchProtocols(ctx, () => ctx.throw(409)),
      409,
      [],
    ],
  ])('%s', async ([, bytes, handler, status, expected]) => {
    const { errors, ...server } = await start(handler);

    const response = await send(server, bytes).readAll();

    expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(response).toContain('\r\nConnection: close\r\n');
    expect(response).not.toContain('101 Switching Protocols');
    expect(errors.map(String)).toEqual(expected);
  });

  test.for([
    ['is a POST', withConnection.replace('GET', 'POST')],
    ['is one of HTTP/1.0', withConnection.replace('HTTP/1.1', 'HTTP/1.0')],
    ['asks for another protocol', withConnection.replace('websocket', 'h2c')],
    [
      'has a body of unknown length',
      withConnection.replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
    ],
  ] as const)('if it %s', async ([, bytes]) => {
    const server = await start((ctx) => ctx.json({ isUpgrade: isUpgrade(ctx) }));

    const response = await send(server, bytes).readAll();

    expect(response).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"isUpgrade":false\}$/);
  });

  test('if another request on its connection has no response yet', async () => {
    const takeOver = vi.fn(accept);
    const server = await start((ctx) => {
      if (isUpgrade(ctx)) switchProtocols(ctx, takeOver);
      else return new Promise(() => {});
    });

    const response = await send(server, `${requestOf()}${HANDSHAKE}`).readAll();

    expect(response).toBe('');
    expect(takeOver).not.toHaveBeenCalled();
  });

  test('and its connection ends with the response, and is destroyed a second later', async () => {
    const server = await start((ctx) => ctx.send('no'));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const accepted = once(server.server, 'connection');
    await send(server, HANDSHAKE).readAll();
    const [socket] = await accepted;

    vi.advanceTimersByTime(999);
    const wasDestroyed = socket.destroyed;
    vi.advanceTimersByTime(1);

    expect([wasDestroyed, socket.destroyed]).toEqual([false, true]);
  });

  test('but a streamed response that fills the buffers', async () => {
    const server = await start((ctx) => ctx.send(Readable.from([Buffer.alloc(5_000_000), 'end'])));

    expect(await send(server, HANDSHAKE).readAll()).toContain('\0\r\n3\r\nend\r\n');
  });

  test('if its response was sent before', async () => {
    const after = Promise.withResolvers<number>();
    const takeOver = vi.fn(accept);
    const { problems, ...server } = await start((ctx) => {
      setImmediate(() => {
        switchProtocols(ctx, takeOver);
        after.resolve(ctx.status);
      });
      ctx.send('first');
    });

    const response = await send(server, HANDSHAKE).readAll();

    expect(response).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\nfirst$/);
    expect(await after.promise).toBe(200);
    expect(takeOver).not.toHaveBeenCalled();
    expect(problems).toEqual([expect.stringContaining('used ctx after its response was sent')]);
  });

  test('while the server closes: the client is asked to try again', async () => {
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const takeOver = vi.fn(accept);
    const { errors, ...server } = await start(async (ctx) => {
      reached.resolve();
      await go.promise;
      switchProtocols(ctx, takeOver);
    });
    const connection = send(server, HANDSHAKE);
    await reached.promise;
    const closing = server.close();
    await once(server.closing, 'abort');

    go.resolve();

    const response = await connection.readAll();
    expect(response).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
    expect(response).toMatch(/\r\nRetry-After: 1\r\n/);
    expect(errors.map(String)).toEqual([expect.stringContaining('The server is about to close')]);
    expect(takeOver).not.toHaveBeenCalled();
    connection.close();
    await closing;
  });

  test.for<readonly [string, (ctx: Context, disconnect: () => void) => Promise<unknown>]>([
    [
      'if its client has left',
      (ctx, disconnect) => {
        const closed = once(ctx.raw.res, 'close');
        disconnect();
        return closed;
      },
    ],
    ['if its handler has ended the connection', async (ctx) => ctx.raw.req.socket.end()],
  ])('%s', async ([, leave]) => {
    const sent = Promise.withResolvers<number>();
    const takeOver = vi.fn(accept);
    const { errors, ...server } = await start(async (ctx) => {
      onSent(ctx, sent.resolve);
      await leave(ctx, () => connection.close());
      switchProtocols(ctx, takeOver);
    });

    const connection = send(server, HANDSHAKE);

    expect(await sent.promise).toBe(499);
    expect(takeOver).not.toHaveBeenCalled();
    expect(errors).toEqual([]);
  });

  test('on a server that createServer() did not create', async () => {
    const connections: unknown[] = [];
    const { logger, errors } = recordLog();
    const app = createApp({ logger }).use((ctx) => {
      onSent(ctx, () => connections.push(upgradedConnection(ctx)));
      switchProtocols(ctx, accept);
    });
    const server = http.createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    dispatchUpgrades(server, app.handle);
    await once(server, 'listening');

    const { port } = server.address() as { port: number };
    const response = await send({ port }, HANDSHAKE).readAll();
    const toOther = await send({ port }, HANDSHAKE.replace('websocket', 'h2c')).readAll();

    expect(response).toMatch(/^HTTP\/1\.1 500 /);
    expect(toOther).toMatch(/^HTTP\/1\.1 501 /); // as with a Node that cannot ignore the header
    expect(errors).toEqual([new Error('Cannot upgrade this request')]);
    expect(connections).toEqual([undefined]);
  });
});
