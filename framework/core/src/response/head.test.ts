import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createApp } from '../application.ts';
import type { Middleware } from '../context.ts';
import { http } from '../node/http.ts';
import { createServer } from '../server/create-server.ts';
import { openConnection, quiet } from '../testing/index.ts';
import { exchange, serve } from '../testing/vitest.ts';

const app = createApp({ logger: quiet }).use(async (ctx) => {
  const [, kind = '', argument = ''] = ctx.path.split('/');
  if (kind === 'status') {
    ctx.status = Number(argument);
    ctx.json({ a: 1 });
  } else if (kind === 'silent') {
    ctx.status = Number(argument);
  } else if (kind === 'text') ctx.send('plain');
  else if (kind === 'utf8') ctx.html('<p>日本 é 😀</p>');
  else if (kind === 'bytes') ctx.send(Buffer.from([0, 128, 255]));
  else if (kind === 'large') ctx.send('é'.repeat(100_000));
  else if (kind === 'cookies') ctx.set('Set-Cookie', ['a=1', 'b=2']).set('X-A', 'é').json({});
  else if (kind === 'close') ctx.set('Connection', 'close').json({});
  else if (kind === 'redirect') ctx.redirect('/there', 308);
  else if (kind === 'slow') {
    await sleep(20);
    ctx.json({ slow: true });
  } else ctx.throw(404, 'Nothing here');
});

let ours: Server;
let nodes: Server;

beforeAll(async () => {
  const timeouts = { keepAliveTimeoutMs: 7_000 };
  ours = createServer(app, timeouts).listen(0, '127.0.0.1');
  const { handle } = app;
  nodes = http.createServer({ keepAliveTimeout: 7_000, requireHostHeader: false }, handle);
  nodes.on('checkContinue', handle).listen(0, '127.0.0.1');
  await Promise.all([once(ours, 'listening'), once(nodes, 'listening')]);
});

afterAll(() => Promise.all([ours, nodes].map((server) => once(server.close(), 'close'))));

const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** The bytes that the server at `port` sends for `bytes`, without values that differ between requests. */
async function responseOf(port: number, bytes: string): Promise<string> {
  return (await exchange(port, bytes))
    .replace(/Date: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/g, 'Date: masked')
    .replace(/"requestId":"[^"]+"/g, '"requestId":"masked"');
}

const last = 'GET /text HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** The bytes that an application with `middleware` sends. */
async function bytesOf(...middleware: readonly Middleware[]): Promise<string> {
  const { port } = await serve(createApp({ logger: quiet }).use(...middleware));
  return responseOf(port, last);
}

const statuses = [
  200, 201, 202, 203, 206, 299, 300, 400, 404, 413, 418, 422, 429, 499, 500, 503, 599,
];
const requestOf = (path: string, method = 'GET', ...headers: string[]) =>
  `${[`${method} ${path} HTTP/1.1`, 'Host: a', ...headers].join('\r\n')}\r\n\r\n`;

test.each([
  ...statuses.map((status) => [`status ${status}`, requestOf(`/status/${status}`)] as const),
  ...[204, 205, 304].map(
    (status) => [`no body with ${status}`, requestOf(`/status/${status}`)] as const,
  ),
  ...[200, 204, 404].map(
    (status) => [`silence with ${status}`, requestOf(`/silent/${status}`)] as const,
  ),
  ['a text', requestOf('/text')],
  ['a text beyond ASCII', requestOf('/utf8')],
  ['bytes', requestOf('/bytes')],
  ['a large text', requestOf('/large')],
  ['repeated headers', requestOf('/cookies')],
  ['a redirect', requestOf('/redirect')],
  ['an error', requestOf('/nowhere')],
  ['a rejected request target', requestOf('/%ZZ')],
  ['HEAD', requestOf('/utf8', 'HEAD')],
  ['HEAD of bytes', requestOf('/bytes', 'HEAD')],
  ['HEAD of an error', requestOf('/nowhere', 'HEAD')],
  ['a handler that closes', requestOf('/close')],
  ['a client that closes', requestOf('/utf8', 'GET', 'Connection: close')],
  ['a client that keeps', requestOf('/utf8', 'GET', 'Connection: keep-alive')],
  ['HTTP/1.0', 'GET /text HTTP/1.0\r\n\r\n'],
  ['HTTP/1.0 that keeps', 'GET /text HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'],
  ['HTTP/1.0 HEAD', 'HEAD /text HTTP/1.0\r\n\r\n'],
  ['HTTP/1.0 with TE', 'GET /text HTTP/1.0\r\nTE: chunked\r\n\r\n'],
  ['a body that is not read', `${requestOf('/text', 'POST', 'Content-Length: 3')}abc`],
  [
    'chunks that are not read',
    `${requestOf('/text', 'POST', 'Transfer-Encoding: chunked')}3\r\nabc\r\n0\r\n\r\n`,
  ],
  [
    '100-continue without a 100 response',
    requestOf('/text', 'POST', 'Expect: 100-continue', 'Content-Length: 3'),
  ],
  [
    'several at once',
    requestOf('/slow') + requestOf('/text') + requestOf('/nowhere') + requestOf('/slow'),
  ],
] as const)('the bytes of %s are those that Node writes', async (_, bytes) => {
  const isLast = /^Connection: close|HTTP\/1\.0\r\n(?!Connection: keep-alive)/m.test(bytes);
  const rest = isLast ? '' : last;

  const [actual, expected] = await Promise.all(
    [ours, nodes].map((server) => responseOf(portOf(server), bytes + rest)),
  );

  expect(actual).toBe(expected);
  expect(actual).toMatch(/^HTTP\/1\.1 \d{3} [^\r\n]+\r\n(?:.+\r\n)*Date: masked\r\n/);
});

test.each([
  [7_000, 'timeout=7'],
  [0, 'none'],
  [1_500, 'timeout=1'],
])(
  'Keep-Alive of a server with a time-out of %i ms is %s',
  async (keepAliveTimeoutMs, expected) => {
    const { port } = await serve(app, { keepAliveTimeoutMs });

    for (const each of [port, portOf(ours), port]) {
      const connection = openConnection(each).send(requestOf('/text'));
      const head = await connection.read(/plain$/);
      connection.close();
      expect(head).toMatch(/\r\nConnection: keep-alive\r\n(?:Keep-Alive: .*\r\n)?\r\nplain$/);
      expect(/^Keep-Alive: (.*)\r$/m.exec(head)?.[1] ?? 'none').toBe(
        each === port ? expected : 'timeout=7',
      );
    }
  },
);

test.each<readonly [string, Middleware, Record<string, string>]>([
  [
    'a whole response',
    (ctx) => ctx.set('X-A', 'b').send('hello'),
    { 'x-a': 'b', 'content-type': 'text/plain; charset=utf-8', 'content-length': '5' },
  ],
  [
    'a whole response without a type',
    (ctx) => ctx.set('X-A', 'b').redirect('/there'),
    { 'x-a': 'b', location: '/there', 'content-length': '0' },
  ],
  ['an empty response', (ctx) => ctx.set('X-A', 'b').send(''), { 'x-a': 'b' }],
  [
    'a stream',
    (ctx) => ctx.send(Readable.from([Buffer.from('a')])),
    { 'content-type': 'application/octet-stream' },
  ],
])('the headers of %s can be read after it is finished', async (_, handler, expected) => {
  const seen = Promise.withResolvers<object>();

  await bytesOf((ctx, next) => {
    const { res } = ctx.raw;
    res.once('finish', () => seen.resolve({ ...res.getHeaders() }));
    return next();
  }, handler);

  expect(await seen.promise).toEqual(expected);
});

test.each<readonly [string, (res: ServerResponse) => unknown, unknown]>([
  ['getHeader', (res) => res.getHeader('Content-Length'), '5'],
  [
    'getHeaders',
    (res) => ({ ...res.getHeaders() }),
    { 'x-a': ['b', 'c'], 'content-type': 'text/plain; charset=utf-8', 'content-length': '5' },
  ],
  ['getHeaderNames', (res) => res.getHeaderNames(), ['x-a', 'content-type', 'content-length']],
  ['hasHeader', (res) => [res.hasHeader('x-a'), res.hasHeader('x-b')], [true, false]],
])('%s alone reads them too', async (_, read, expected) => {
  const seen = Promise.withResolvers<unknown>();

  await bytesOf((ctx) => {
    const { res } = ctx.raw;
    res.once('finish', () => seen.resolve(read(res)));
    ctx.set('X-A', ['b', 'c']).send('hello');
  });

  expect(await seen.promise).toEqual(expected);
});

const WITHOUT_DATE = /^(?![\s\S]*\nDate:)HTTP/;
const WITHOUT_CONNECTION = /^(?![\s\S]*\nConnection:)HTTP/;
const ADDED = /^X-Raw: yes\r$/m;
const VARY = /^Vary: Accept\r\nVary: Origin\r$/m;
const COOKIES = /^Set-Cookie: a=1\r\nSet-Cookie: b=2\r$/m;

describe.each<readonly [string, Middleware, RegExp]>([
  ['a text', (ctx) => ctx.send('plain'), /plain$/],
  ['an empty response', (ctx) => ctx.send(''), /^HTTP\/1.1 204 [\s\S]*\r\n\r\n$/],
  ['a stream', (ctx) => ctx.send(Readable.from(['plain'])), /plain(?:\r\n0\r\n\r\n)?$/],
])('before %s, ctx.raw.res', (_, respond, body) => {
  test.each<readonly [string, (res: ServerResponse) => unknown, RegExp]>([
    ['setHeader adds a header', (res) => res.setHeader('X-Raw', 'yes'), ADDED],
    ['appendHeader adds a header', (res) => res.appendHeader('X-Raw', 'yes'), ADDED],
    ['setHeaders adds headers', (res) => res.setHeaders(new Map([['X-Raw', 'yes']])), ADDED],
    ['setHeader sets no header of ctx', (res) => res.setHeader('X-Own', 'raw'), /^(?![\s\S]*raw)/],
    ['setHeader shares Vary', (res) => res.setHeader('Vary', 'Accept'), VARY],
    ['setHeader shares Set-Cookie', (res) => res.setHeader('Set-Cookie', 'a=1'), COOKIES],
    ['removeHeader omits Date', (res) => res.removeHeader('Date'), WITHOUT_DATE],
    ['removeHeader omits Connection', (res) => res.removeHeader('Connection'), WITHOUT_CONNECTION],
    ['sendDate omits Date', (res) => Object.assign(res, { sendDate: false }), WITHOUT_DATE],
    [
      'statusMessage replaces the text of the status',
      (res) => Object.assign(res, { statusMessage: 'Fine' }),
      /^HTTP\/1.1 20[04] Fine\r/,
    ],
    [
      'writeHead can be replaced',
      (res) => {
        const { writeHead } = res;
        res.writeHead = function replaced(this: ServerResponse, ...args: [number]) {
          this.setHeader('X-Late', 'yes');
          return writeHead.apply(this, args);
        } as typeof res.writeHead;
      },
      /^X-Late: yes\r$/m,
    ],
  ])('%s', async (_, change, expected) => {
    const bytes = await bytesOf((ctx) => {
      change(ctx.raw.res);
      ctx.set('X-Own', 'ctx').set('Vary', 'Origin').set('Set-Cookie', 'b=2');
      return respond(ctx, () => Promise.resolve());
    });

    expect(bytes).toMatch(expected);
    expect(bytes).toMatch(/^X-Own: ctx\r$/m);
    expect(bytes).toMatch(body);
  });
});

test('a method that replaces end of ctx.raw.res can set headers of a whole response', async () => {
  const bytes = await bytesOf((ctx) => {
    const { res } = ctx.raw;
    const { end } = res;
    res.end = function replaced(this: ServerResponse, ...args: [string]) {
      this.setHeader('X-Late', 'yes');
      return end.apply(this, args as never);
    } as typeof res.end;
    ctx.send('plain');
  });

  expect(bytes).toMatch(/^X-Late: yes\r$/m);
  expect(bytes).toMatch(/plain$/);
});
