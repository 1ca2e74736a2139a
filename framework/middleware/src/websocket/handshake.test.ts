import { createRouter } from '@fw/core';
import { openConnection } from '@fw/core/testing';
import { describe, expect, test, vi } from 'vitest';

import { type AnyOptions, connect, echo, start } from '../testing/websockets.ts';
import { type WebSocketClient, websocket } from './websocket.ts';

const HANDSHAKE = [
  'GET /rooms/7 HTTP/1.1',
  'Host: shop.example',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

/** The request, in which the line of a header is replaced by `lines`; else they are added. */
function handshake(...lines: readonly string[]): string {
  const nameOf = (line: string) => line.split(':')[0];
  const kept = HANDSHAKE.filter((line) => !lines.some((other) => nameOf(other) === nameOf(line)));
  return [...kept, ...lines.filter((line) => !line.endsWith(': -')), '\r\n'].join('\r\n');
}

/** A frame with the mask 0: its payload is unchanged. */
function frame(first: number, payload: string | Buffer = '', { masked = 0x80 } = {}): Buffer {
  const data = Buffer.from(payload);
  const length =
    data.length < 126
      ? [data.length | masked]
      : [126 | masked, data.length >> 8, data.length & 255];
  return Buffer.concat([Buffer.from([first, ...length, ...(masked ? [0, 0, 0, 0] : [])]), data]);
}

/** RFC 9110 §15.5.22, RFC 6455 §4.4. */
const UPGRADE = /\r\nUpgrade: websocket\r\n(?:.*\r\n)*Sec-WebSocket-Version: 13\r\n/;

describe('a handshake', () => {
  test.each<readonly [string, string, number]>([
    ['of an ordinary request', handshake('Upgrade: -', 'Connection: close'), 426],
    ['of another version', handshake('Sec-WebSocket-Version: 8'), 426],
    ['without a key', handshake('Sec-WebSocket-Key: -'), 400],
    ['with a short key', handshake('Sec-WebSocket-Key: AAAA'), 400],
    ['for another protocol', handshake('Upgrade: h2c', 'Connection: Upgrade, close'), 426],
    ['with two protocols', handshake('Upgrade: websocket, h2c', 'Connection: Upgrade, close'), 426],
    ['of HTTP/1.0', handshake().replace('HTTP/1.1', 'HTTP/1.0'), 426],
    ['with POST', handshake('Connection: Upgrade, close').replace('GET', 'POST'), 405],
    ['with a body', `${handshake('Connection: Upgrade, close', 'Content-Length: 4')}body`, 426],
    [
      'with chunks',
      `${handshake('Connection: Upgrade, close', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
      426,
    ],
    ['with an ambiguous path', handshake().replace('/rooms/7', '/rooms/../rooms/7'), 400],
    ['with a page of another origin', handshake('Origin: https://evil.example'), 403],
    [
      'with an origin that is a list',
      handshake('Origin: https://shop.example, https://evil.example'),
      403,
    ],
    ['with an invalid subprotocol', handshake('Sec-WebSocket-Protocol: a b'), 400],
    ['with a repeated subprotocol', handshake('Sec-WebSocket-Protocol: a, a'), 400],
  ])('%s is rejected, with all that follows', async (_, head, status) => {
    const open = vi.fn();
    const router = createRouter().get('/rooms/:id', websocket({ open, protocols: ['a'] }));
    const server = await start(echo, (app) => app.route('/', router).use(router.allowedMethods()));

    const response = await openConnection(server.port).send(`${head}${handshake()}`).readAll();

    expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    if (status === 426) expect(response).toMatch(UPGRADE);
    expect(response.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(response).toMatch(/\r\nContent-Type: application\/problem\+json\r\n/);
    expect(open).not.toHaveBeenCalled();
  });

  test.each<readonly [string, string, AnyOptions]>([
    ['without Origin', handshake(), {}],
    ['with a page of the same host', handshake('Origin: https://shop.example'), {}],
    [
      'with a page in origins',
      handshake('Origin: https://app.example'),
      { origins: ['https://app.example'] },
    ],
    ['with any page', handshake('Origin: https://app.example'), { origins: '*' }],
    ['with an offer of compression', handshake('Sec-WebSocket-Extensions: permessage-deflate'), {}],
    [
      'with a known subprotocol',
      handshake('Sec-WebSocket-Protocol: token.x, v1, v2'),
      { protocols: ['v2', 'v1'] },
    ],
    ['with an unknown subprotocol', handshake('Sec-WebSocket-Protocol: v3'), { protocols: ['v1'] }],
  ])('%s is accepted, with the frame that follows', async (_, head, options) => {
    const message = (client: WebSocketClient, text: unknown) => client.send(text);
    const server = await start(websocket({ ...options, message }));

    const connection = openConnection(server.port);
    connection.send(Buffer.concat([Buffer.from(head), frame(0x81, 'early')]));

    const response = await connection.read(/early/);
    expect(response).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(response).not.toMatch(/Sec-WebSocket-Extensions/i);
    expect(/^Sec-WebSocket-Protocol: (.*)\r$/m.exec(response)?.[1]).toBe(
      head.includes('v1, v2') ? 'v1' : undefined,
    );
    connection.close();
  });

  test('of a client that disconnects while a guard runs does not occupy a place', async () => {
    const open = vi.fn();
    const held = Promise.withResolvers<AbortSignal>();
    const go = Promise.withResolvers<void>();
    const server = await start(websocket({ open, maxClients: 1 }), (app) =>
      app.use(async (ctx, next) => {
        if (ctx.get('x-wait')) {
          held.resolve(ctx.signal);
          await go.promise;
        }
        await next();
      }),
    );
    const connection = openConnection(server.port).send(handshake('X-Wait: 1'));
    const signal = await held.promise;

    connection.close();
    await expect.poll(() => signal.aborted).toBe(true);
    go.resolve();

    await connect(server).opened;
    expect(open).toHaveBeenCalledTimes(1);
    expect(server.problems).toEqual([]);
  });

  test('while an earlier response is incomplete closes the connection', async () => {
    const server = await start(echo, (app) => app.get('/slow', () => new Promise(() => {})));

    const response = await openConnection(server.port)
      .send(`GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${handshake()}`)
      .readAll();

    expect(response).toBe('');
  });
});

describe('an attack with', () => {
  const TEXT = 0x81;
  const FIRST = 0x01;
  const NEXT = 0x00;

  test.each<readonly [string, Buffer, number]>([
    ['an unmasked frame', frame(TEXT, 'x', { masked: 0 }), 1002],
    ['a compressed frame', frame(TEXT | 0x40, 'x'), 1002],
    ['invalid UTF-8', frame(TEXT, Buffer.from([0xc3, 0x28])), 1007],
    [
      'an announced gigabyte',
      Buffer.from([TEXT, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0]),
      1009,
    ],
    [
      'fragments that are too long together',
      Buffer.concat([frame(FIRST, 'x'.repeat(60_000)), frame(NEXT, 'x'.repeat(60_000))]),
      1009,
    ],
    [
      'a flood of empty fragments',
      Buffer.concat([frame(FIRST), ...Array.from({ length: 5_000 }, () => frame(NEXT))]),
      1008,
    ],
    ['a flood of pings', Buffer.concat(Array.from({ length: 5_000 }, () => frame(0x89))), 1008],
  ])('%s closes the connection', async (_, data, code) => {
    const message = vi.fn();
    const ended = Promise.withResolvers<number>();
    const server = await start(websocket({ message, close: (_client, end) => ended.resolve(end) }));
    const connection = openConnection(server.port).send(handshake());
    await connection.read(/\r\n\r\n/);

    connection.send(data);

    await connection.read(new RegExp(String.fromCharCode(code >> 8, code & 255)));
    connection.close();
    expect(await ended.promise).toBe(code);
    expect(message).not.toHaveBeenCalled();
    expect(server.problems).toEqual([]);
  });

  test('a close frame that the client does not confirm ends after some seconds', async () => {
    const ended = Promise.withResolvers<number>();
    const route = websocket({
      open: (client) => client.close(4_000),
      close: (_, code) => ended.resolve(code),
    });
    const connection = openConnection((await start(route)).port).send(handshake());
    await connection.read(/\r\n\r\n/);

    expect(await ended.promise).toBe(4_000);
  });
});
