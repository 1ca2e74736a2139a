import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { createApp, type ListeningServer, listen } from '@fw/core';
import { metadataOf } from '@fw/core/extension';
import { openConnection, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { recordLog } from '../../errors/src/testing/logs.ts';
import { type JsonOptions, json } from './json.ts';

/** An application that echoes the body and counts the requests that reach its handler. */
function createEcho(options: JsonOptions = {}) {
  const { logger, errors } = recordLog();
  let runs = 0;
  const app = createApp({ logger })
    .use(errorHandler())
    .use(json(options))
    .use((ctx) => {
      runs++;
      ctx.json({ body: ctx.body === undefined ? 'undefined' : ctx.body });
    });
  return { app, errors, runs: () => runs };
}

const { app } = createEcho();
const JSON_TYPE = { 'Content-Type': 'application/json' };

function post(body: string | Uint8Array, headers: Record<string, string> = JSON_TYPE, to = app) {
  return request(to, '/', { method: 'POST', headers, body });
}

async function problemOf(response: Response): Promise<unknown> {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  return response.json();
}

describe('a JSON body', () => {
  test.each([
    '{"a":[1,2.5e3,-1,true,null,"é😀"]}',
    '[]',
    ' {} \r\n\t',
    '{"":""}',
    '{"a\\u0041":"\\ud83d\\ude00"}',
    '{"constructor":"x"}',
    '{"constructor":{}}',
    '{"prototype":{}}',
    '["__proto__","constructor"]',
    '{"constructor":[{"prototype":1}]}',
    '{"constructor":{"a":{"prototype":1}}}',
    '{"a":{"constructor":{}},"prototype":1}',
    '[{"prototype":1},{"constructor":{}}]',
    '[{},{"prototype":1},{"constructor":{}}]',
    '["constructor",{"prototype":1},{"constructor":{}}]',
    '{"a":"\\udbff\\udfff"}',
    `{"a":"\\u0041${'x'.repeat(100)}\\"__proto__\\":1"}`,
    '{"\\"__proto__":1,"a\\\\":"__proto__"}',
    '["\\\\u0000","\\\\ud800"]',
    '["\\nd800","\\t0000"]',
    '{"\\u0041":"","__proto__x":1,"\\"005f_proto__":1}',
    '{"a":"\\uFFFD \uFFFD"}',
  ])('%j is parsed', async (text) => {
    expect(await (await post(text)).json()).toEqual({ body: JSON.parse(text) });
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'])(
    'of %s is parsed',
    async (method) => {
      const headers = { ...JSON_TYPE, 'Content-Length': '7' };
      const response = await request(app, '/', { method, headers, body: '{"a":1}' });

      expect(await response.json()).toEqual({ body: { a: 1 } });
    },
  );

  test('in chunks that split a character is parsed', async () => {
    const server = await listen(app, 0);
    const octets = Buffer.from('{"a":"😀"}');
    const connection = openConnection(server.port).send(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n',
    );

    for (const octet of octets) {
      connection.send('1\r\n').send(Uint8Array.of(octet)).send('\r\n');
      await sleep(1);
    }
    const received = await connection.send('0\r\n\r\n').readAll();

    expect(received).toContain(Buffer.from('{"body":{"a":"😀"}}').toString('latin1'));
    await server.close();
  });

  test.each([
    ['no body', { method: 'POST' }],
    ['an empty body without a type', { method: 'POST', body: '' }],
    [
      'an empty body of another type',
      { method: 'POST', body: '', headers: { 'Content-Type': 'text/plain' } },
    ],
    [
      'an empty chunked body of another type',
      { method: 'POST', headers: { 'Content-Type': 'text/plain', 'Transfer-Encoding': 'chunked' } },
    ],
    [
      'an empty chunked body',
      { method: 'POST', headers: { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' } },
    ],
    ['GET with a body', { method: 'GET', headers: JSON_TYPE, body: '{"a":1}' }],
    [
      'GET with a body of another type',
      { method: 'GET', headers: { 'Content-Type': 'text/plain' }, body: 'x' },
    ],
  ])('is undefined for %s', async (_, init) => {
    const response = await request(app, '/', init);

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ body: 'undefined' });
  });

  test('may begin with a byte order mark', async () => {
    const response = await post('\uFEFF{"a":1}', JSON_TYPE);

    expect(await response.json()).toEqual({ body: { a: 1 } });
  });

  test('of HEAD is not parsed', async () => {
    const response = await request(app, '/', { method: 'HEAD', headers: JSON_TYPE, body: '{' });

    expect(response.status).toBe(200);
  });

  test('is not parsed again by a second parser', async () => {
    const twice = createApp()
      .use(json())
      .use(json({ limit: 1 }))
      .use((ctx) => ctx.json({ body: ctx.body }));

    const response = await post('{"a":1}', JSON_TYPE, twice);

    expect(await response.json()).toEqual({ body: { a: 1 } });
  });

  test('is parsed before a handler whose error json passes on', async () => {
    const failing = createApp()
      .use(errorHandler())
      .use(json())
      .use(async (ctx) => {
        await sleep(1);
        ctx.throw(409, `cannot save ${JSON.stringify(ctx.body)}`);
      });

    const response = await post('{"a":1}', JSON_TYPE, failing);

    expect(response.status).toBe(409);
    expect(await problemOf(response)).toMatchObject({ detail: 'cannot save {"a":1}' });
  });

  test('is not parsed if another middleware has set ctx.body', async () => {
    const preset = createApp()
      .use((ctx, next) => {
        ctx.body = 'set before';
        return next();
      })
      .use(json())
      .use((ctx) => ctx.json({ body: ctx.body }));

    const response = await post('{"a":1}', JSON_TYPE, preset);

    expect(await response.json()).toEqual({ body: 'set before' });
  });
});

describe('a body that is not JSON, or JSON that programs parse differently', () => {
  const NOT_UTF8 = 'The body must be UTF-8';
  const NOT_STRICT = 'The body must be a JSON object or array';
  const NOT_UNICODE = 'A string of the body must be well-formed Unicode';
  const HAS_NUL = 'A string of the body must not contain NUL';
  const HAS_PROTO = 'The body must not have the key "__proto__"';
  const HAS_PROTOTYPE = 'The body must not have the key "constructor.prototype"';
  const LONG = 'x'.repeat(100);

  test.each<readonly [string, string | Uint8Array, string]>([
    ['cut off', '{"a":', 'The body is not valid JSON'],
    ['invalid at a position', '{"a":1,"b":2;}', 'The body is not valid JSON at position 12'],
    ['blanks only', '  ', 'The body is not valid JSON'],
    ['two byte order marks', '\uFEFF\uFEFF{}', 'The body is not valid JSON'],
    ['a byte order mark only', '\uFEFF', 'The body is not valid JSON'],
    ['a number', '1', NOT_STRICT],
    ['a string', '"a"', NOT_STRICT],
    ['null', 'null', NOT_STRICT],
    ['true', 'true', NOT_STRICT],
    ['an octet that is no UTF-8', Buffer.from('["\xff"]', 'latin1'), NOT_UTF8],
    ['a character in two octets too many', Buffer.from('["\xf0\x82\x82\xac"]', 'latin1'), NOT_UTF8],
    ['a character cut off', Buffer.from('["\xe2\x82"]', 'latin1'), NOT_UTF8],
    ['a surrogate in UTF-8', Buffer.from('["\xed\xa0\x80"]', 'latin1'), NOT_UTF8],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), 'The body is not valid JSON at position 1'],
    ['a lone surrogate', '{"a":"\\ud800"}', NOT_UNICODE],
    ['a lone low surrogate', '{"a":["\\udc00x"]}', NOT_UNICODE],
    ['a high surrogate before another escape', '{"a":"\\ud800\\u0041"}', NOT_UNICODE],
    ['a pair of surrogates that is divided', '{"a":"\\ud83dx\\ude00"}', NOT_UNICODE],
    ['a lone surrogate in a key', '{"\\ud800":1}', NOT_UNICODE],
    ['NUL', '{"a":"\\u0000"}', HAS_NUL],
    ['NUL in a key', '{"a\\u0000":1}', HAS_NUL],
    ['__proto__', '{"__proto__":{"isAdmin":true}}', HAS_PROTO],
    ['__proto__ deep down', '[{"a":[{"__proto__":1}]}]', HAS_PROTO],
    ['__proto__ escaped', '{"__pr\\u006fto__":{}}', HAS_PROTO],
    [
      '__proto__ all escaped',
      '{"\\u005f\\u005f\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f":{}}',
      HAS_PROTO,
    ],
    ['__proto__ behind a long string', `{"a":"${LONG}","__proto__":1}`, HAS_PROTO],
    [
      '__proto__ behind a long string with an escaped quote',
      `{"a":"${LONG}\\"${LONG}\\\\","__proto__":1}`,
      HAS_PROTO,
    ],
    [
      '__proto__ behind a string that is longer by one',
      `{"a":"x${LONG}\\"x${LONG}\\\\","__proto__":1}`,
      HAS_PROTO,
    ],
    ['constructor.prototype', '{"constructor":{"prototype":{"isAdmin":true}}}', HAS_PROTOTYPE],
    [
      '__proto__ in a value that a later one of the same key replaces',
      '{"a":{"__proto__":1},"a":0}',
      HAS_PROTO,
    ],
    [
      'constructor.prototype behind other keys',
      '{"constructor":{"a":[{}],"b":{},"prototype":1}}',
      HAS_PROTOTYPE,
    ],
    ['constructor.prototype with blanks', '{"constructor" \n: \t{ "prototype" :1}}', HAS_PROTOTYPE],
    [
      'constructor.prototype escaped',
      '{"a":{"c\\u006fnstructor":{"pr\\u006ftotype":1}}}',
      HAS_PROTOTYPE,
    ],
  ])('gets 400: %s', async (_, body, detail) => {
    const echo = createEcho();

    const response = await post(body, JSON_TYPE, echo.app);

    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail,
      code: 'INVALID_JSON',
      requestId: expect.any(String),
    });
    expect(echo.runs()).toBe(0);
    expect(echo.errors).toEqual([]);
  });

  test('never appears in the response', async () => {
    const response = await post('{"password":"hunter2"', JSON_TYPE);

    expect(await response.text()).not.toContain('hunter2');
  });

  test('may be a scalar with strict: false', async () => {
    const loose = createEcho({ strict: false }).app;

    expect(await (await post('null', JSON_TYPE, loose)).json()).toEqual({ body: null });
    expect(await (await post('"a"', JSON_TYPE, loose)).json()).toEqual({ body: 'a' });
    expect((await post('{', JSON_TYPE, loose)).status).toBe(400);
  });
});

describe('nesting', () => {
  test.each([
    ['64 arrays', '['.repeat(64) + ']'.repeat(64), 200],
    ['65 arrays', '['.repeat(65) + ']'.repeat(65), 400],
    ['64 arrays, two of them side by side', `${'['.repeat(63)}[],[]${']'.repeat(63)}`, 200],
    ['64 objects', `${'{"a":'.repeat(63)}{}${'}'.repeat(63)}`, 200],
    ['65 objects', `${'{"a":'.repeat(64)}{}${'}'.repeat(64)}`, 400],
    ['65 of both', `${'[{"a":'.repeat(32)}[]${'}]'.repeat(32)}`, 400],
    ['20,000 arrays', '['.repeat(20_000) + ']'.repeat(20_000), 400],
    ['20,000 arrays that never end', '['.repeat(20_000), 400],
    ['65 arrays and a long string that never ends', `${'['.repeat(65)}"${'x'.repeat(100)}`, 400],
    ['200 brackets in a string', JSON.stringify({ a: `\\"${'['.repeat(200)}` }), 200],
    ['200 arrays side by side', `[${Array(200).fill('[]')}]`, 200],
    ['65 arrays behind a quote that is escaped', `["\\"",${'['.repeat(64)}${']'.repeat(64)}]`, 400],
  ])('of %s', async (_, text, status) => {
    const response = await post(text);

    expect(response.status).toBe(status);
    expect((await response.text()).includes('The body must be nested at most 64 deep')).toBe(
      status === 400,
    );
  });
});

describe('the media type of a body', () => {
  test.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; charset="utf-8"',
    'application/json; charset="u\\tf-8"',
    'application/json;',
    'application/json; a=b; charset=utf8',
    'application/json; a="b;charset=x"',
    'application/merge-patch+json',
    'application/vnd.api+json; version=1',
  ])('%s is JSON', async (type) => {
    expect(await (await post('{"a":1}', { 'Content-Type': type })).json()).toEqual({
      body: { a: 1 },
    });
  });

  test.each([
    undefined,
    'text/plain',
    'text/json',
    'application/jsonx',
    'application/x-json',
    'application/json-patch',
    'image/svg+json',
    'application',
    'application/',
    '/json',
    'json',
    'application/json, text/plain',
    'application/json text/plain',
    'application /json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=a',
    'application/json; charset',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json; charset=xutf-8',
    'application/json; charset=utf-8x',
    'application/json; charset=',
    'application/json; charset="utf-8',
    'application/json; charset=utf-8; charset=latin1',
  ])('%s gets 415 with Accept', async (type) => {
    const echo = createEcho();

    const response = await post(
      '{"a":1}',
      type === undefined ? {} : { 'Content-Type': type },
      echo.app,
    );

    expect(response.status).toBe(415);
    expect(response.headers.get('accept')).toBe('application/json, application/*+json');
    expect(await problemOf(response)).toMatchObject({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      detail: 'The body must be JSON in UTF-8: application/json, application/*+json',
    });
    expect(echo.runs()).toBe(0);
  });
});

describe('the content coding of a body', () => {
  const inflating = createEcho({ inflate: true, limit: 1_000 }).app;
  const text = '{"a":1}';

  test.each(['identity', 'Identity'])('%s is accepted', async (coding) => {
    expect((await post(text, { ...JSON_TYPE, 'Content-Encoding': coding })).status).toBe(200);
  });

  test.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip'])('%s gets 415', async (coding) => {
    const headers = { ...JSON_TYPE, 'Content-Encoding': coding };

    const response = await post(gzipSync(text), headers, createEcho().app);

    expect(response.status).toBe(415);
    expect(response.headers.get('accept-encoding')).toBe('identity');
    expect(await problemOf(response)).toMatchObject({
      detail: 'The content coding of the body must be one of: identity',
    });
  });

  test.each([
    ['gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', Buffer.from(text)],
  ])('%s is decoded with inflate', async (coding, body) => {
    const response = await post(body, { ...JSON_TYPE, 'Content-Encoding': coding }, inflating);

    expect(await response.json()).toEqual({ body: { a: 1 } });
  });

  test.each(['zstd', 'gzip, br', 'constructor'])('%s gets 415 with inflate', async (coding) => {
    const response = await post(text, { ...JSON_TYPE, 'Content-Encoding': coding }, inflating);

    expect(response.status).toBe(415);
    expect(response.headers.get('accept-encoding')).toBe('gzip, deflate, br');
  });

  test.each([
    ['data that is not gzip', Buffer.from(text)],
    ['truncated gzip', gzipSync(text).subarray(0, -6)],
    [
      'gzip with a wrong checksum',
      Buffer.concat([gzipSync(text).subarray(0, -8), Buffer.alloc(8)]),
    ],
  ])('%s gets 400', async (_, body) => {
    const response = await post(body, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, inflating);

    expect(response.status).toBe(400);
  });

  test('a decompression bomb gets 413 before it is decoded completely', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
    const roomy = createEcho({ inflate: true, limit: 100_000 });
    const before = process.memoryUsage().arrayBuffers;

    const response = await post(bomb, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, roomy.app);

    expect(bomb.length).toBeLessThan(100_000);
    expect(response.status).toBe(413);
    expect(roomy.runs()).toBe(0);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  });
});

describe('the limit', () => {
  const small = createEcho({ limit: 10 });

  test('is 1 MiB by default', async () => {
    const body = (bytes: number) => `["${'x'.repeat(bytes - 4)}"]`;

    expect((await post(body(1024 ** 2))).status).toBe(200);
    expect((await post(body(1024 ** 2 + 1))).status).toBe(413);
  });

  test('counts octets, up to the last one', async () => {
    expect((await post('["123456"]', JSON_TYPE, small.app)).status).toBe(200);
    expect((await post('["12345é"]', JSON_TYPE, small.app)).status).toBe(413);
  });

  test('counts for chunks', async () => {
    const headers = { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' };

    expect((await post('["123456"]', headers, small.app)).status).toBe(200);
    expect((await post('["1234567"]', headers, small.app)).status).toBe(413);
  });

  test('gets a problem response before the handler runs', async () => {
    const runsBefore = small.runs();

    const response = await post(`["${'x'.repeat(100)}"]`, JSON_TYPE, small.app);

    expect(await problemOf(response)).toMatchObject({
      title: 'Content Too Large',
      code: 'PAYLOAD_TOO_LARGE',
    });
    expect(small.runs()).toBe(runsBefore);
  });
});

describe('over a socket', () => {
  const echo = createEcho({ limit: 1_000, inflate: true });
  let server: ListeningServer;
  beforeAll(async () => {
    server = await listen(echo.app, { port: 0, requestTimeoutMs: 300, headersTimeoutMs: 300 });
  });
  afterAll(() => server.close());

  const head = (...headers: string[]) =>
    `${['POST / HTTP/1.1', 'Host: a', 'Content-Type: application/json', ...headers].join('\r\n')}\r\n\r\n`;
  const statuses = (received: string) =>
    received.match(/HTTP\/1\.1 \d{3}/g)?.map((line) => Number(line.slice(9)));
  const last = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

  test('Expect: 100-continue is granted below the limit', async () => {
    const connection = openConnection(server.port).send(
      head('Expect: 100-continue', 'Content-Length: 7', 'Connection: close'),
    );

    const interim = await connection.read(/\r\n\r\n$/);
    const received = await connection.send('{"a":1}').readAll();

    expect(interim).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    expect(statuses(received)).toEqual([100, 200]);
  });

  test.each([
    ['listen', async () => server],
    [
      'http.createServer',
      async () => {
        const plain = createServer(echo.app.handle).listen(0, '127.0.0.1');
        await once(plain, 'listening');
        onTestFinished(() => void plain.close());
        return plain.address() as AddressInfo;
      },
    ],
  ])('Expect: 100-continue of HTTP/1.0 is ignored by %s', async (_, start) => {
    const { port } = await start();

    const response = await openConnection(port)
      .send(
        'POST / HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 7\r\n' +
          'Expect: 100-continue\r\n\r\n{"a":1}',
      )
      .readAll();

    expect(statuses(response)).toEqual([200]);
  });

  test.each([
    ['above the limit', 413, ['Content-Length: 1001']],
    ['in an unknown coding', 415, ['Content-Length: 10', 'Content-Encoding: zstd']],
  ])('Expect: 100-continue is not granted to a body %s: %i', async (_, status, headers) => {
    const connection = openConnection(server.port).send(head('Expect: 100-continue', ...headers));

    const received = await connection.readAll();

    expect(statuses(received)).toEqual([status]);
    expect(received).toMatch(/^Connection: close\r$/m);
  });

  test.each([
    ['too large', `${head('Content-Length: 2000')}${'x'.repeat(2000)}`, 413],
    [
      'too large, in chunks',
      `${head('Transfer-Encoding: chunked')}7d0\r\n${'x'.repeat(2000)}\r\n0\r\n\r\n`,
      413,
    ],
    [
      'too large after chunks below the limit',
      `${head('Transfer-Encoding: chunked')}${`1f4\r\n${'x'.repeat(500)}\r\n`.repeat(3)}0\r\n\r\n`,
      413,
    ],
    ['malformed', `${head('Content-Length: 1')}{`, 400],
    [
      'of another type',
      `${head('Content-Length: 2').replace('application/json', 'text/plain')}{}`,
      415,
    ],
    [
      'of another type, in chunks',
      `${head('Transfer-Encoding: chunked').replace('application/json', 'text/plain')}2\r\n{}\r\n0\r\n\r\n`,
      415,
    ],
    ['no gzip', `${head('Content-Length: 900', 'Content-Encoding: gzip')}${'x'.repeat(900)}`, 400],
  ])('a connection is used again after a body that is %s', async (_, octets, status) => {
    const received = await openConnection(server.port)
      .send(octets + last)
      .readAll();

    expect(statuses(received)).toEqual([status, 200]);
  });

  test.each([
    ['no gzip', 'x'.repeat(500), 400],
    ['a bomb', gzipSync(Buffer.alloc(500_000, ' ')).toString('latin1'), 413],
  ])('a connection is used again after a slow body that is %s', async (_, start, status) => {
    const rest = 'x'.repeat(100);
    const connection = openConnection(server.port).send(
      head(`Content-Length: ${start.length + rest.length}`, 'Content-Encoding: gzip') + start,
    );

    await connection.read(/\r\n\r\n\{/);
    const received = await connection.send(rest + last).readAll();

    expect(statuses(received)).toEqual([status, 200]);
  });

  test.each([
    ['400 for data that is not gzip', 400, 'gzip', Buffer.alloc(900_000, 'x')],
    ['400 for data that is not brotli', 400, 'br', Buffer.alloc(900_000, 0xff)],
    [
      '400 for a wrong checksum and trailing data',
      400,
      'gzip',
      Buffer.concat([gzipSync('{}').subarray(0, -8), Buffer.alloc(900_000)]),
    ],
    [
      '413 for decoded data over the limit',
      413,
      'gzip',
      Buffer.concat([gzipSync('x'.repeat(2_000_000)), Buffer.alloc(900_000)]),
    ],
    ['413 for a bomb', 413, 'gzip', gzipSync(Buffer.alloc(200_000_000, ' '))],
    [
      '200 for gzip with trailing data',
      200,
      'gzip',
      Buffer.concat([gzipSync('{}'), Buffer.alloc(900_000)]),
    ],
    [
      '200 for deflate with trailing data',
      200,
      'deflate',
      Buffer.concat([deflateSync('{}'), Buffer.alloc(900_000)]),
    ],
  ])(
    'a connection is used again after a large compressed body with the response %s',
    async (_, status, coding, body) => {
      const roomy = await listen(createEcho({ inflate: true }).app, 0);
      onTestFinished(() => roomy.close());

      const connection = openConnection(roomy.port)
        .send(head(`Content-Length: ${body.length}`, `Content-Encoding: ${coding}`))
        .send(body);

      await connection.read(/\r\n\r\n\{/);
      const received = await connection.send(last).readAll();

      expect(statuses(received)).toEqual([status, 200]);
    },
  );

  test.each([
    ['uncompressed', [], Buffer.from('{"a":1}')],
    ['compressed', ['Content-Encoding: gzip'], gzipSync('{"a":1}')],
  ])('a body sent %s keeps the AsyncLocalStorage of the request', async (_, headers, body) => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const traced = createApp()
      .use((_ctx, next) => storage.run('request', next))
      .use(async (_ctx, next) => {
        await next();
        seen.push(storage.getStore());
      })
      .use(json({ inflate: true }))
      .use((_ctx, next) => {
        seen.push(storage.getStore());
        return next();
      })
      .use((ctx) => ctx.json(storage.getStore()));
    const own = await listen(traced, 0);
    onTestFinished(() => own.close());

    const connection = openConnection(own.port).send(
      head(`Content-Length: ${body.length}`, 'Connection: close', ...headers),
    );
    const received = await connection.send(body).readAll();

    expect(received).toMatch(/"request"$/);
    expect(seen).toEqual(['request', 'request']);
  });

  test.each([
    ['Content-Length', head('Content-Length: 7')],
    ['chunks', head('Transfer-Encoding: chunked')],
    ['gzip', head('Content-Length: 7', 'Content-Encoding: gzip')],
  ])(
    'a client that disconnects during its body by %s reaches no handler and no log',
    async (_, octets) => {
      const runsBefore = echo.runs();
      const connection = openConnection(server.port).send(`${octets}{"a`);
      await sleep(20);

      connection.close();
      await sleep(50);

      expect(echo.runs()).toBe(runsBefore);
      expect(echo.errors).toEqual([]);
    },
  );

  test('a body that never ends gets 408', async () => {
    const received = await openConnection(server.port)
      .send(`${head('Content-Length: 7')}{"a`)
      .readAll();

    expect(statuses(received)).toEqual([408]);
  });

  test.each([
    ['a chunk size that is not a number', 'zz\r\n'],
    ['a chunk longer than its size', '2\r\n{"a":1}\r\n0\r\n\r\n'],
    ['a chunk size that overflows', 'fffffffffffffffff\r\n'],
  ])('%s gets 400 and reaches no handler', async (_, chunks) => {
    const runsBefore = echo.runs();

    const received = await openConnection(server.port)
      .send(head('Transfer-Encoding: chunked') + chunks)
      .readAll();

    expect(statuses(received)).toEqual([400]);
    expect(echo.runs()).toBe(runsBefore);
  });

  test('a rejected body that never ends closes the connection', async () => {
    const connection = openConnection(server.port).send(head('Content-Length: 100000000'));
    let isOver = false;
    const over = connection.readAll().then(() => {
      isOver = true;
    });

    const megabyte = Buffer.alloc(1024 ** 2, 'x');
    let sent = 0;
    for (; sent < 60 && !isOver; sent++) {
      connection.send(megabyte);
      await sleep(2);
    }
    await over;

    expect(sent).toBeLessThan(60);
  });
});

const LIMIT = `a whole number of bytes from 1 to ${Number.MAX_SAFE_INTEGER}`;

test.each<readonly [object, string]>([
  ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1mb', null].map(
    (limit) =>
      [{ limit }, `Cannot read option limit "${limit}" of json(): expected ${LIMIT}`] as const,
  ),
  [{ strict: 'no' }, 'Cannot read option strict "no" of json(): expected true or false'],
  [{ inflate: 1 }, 'Cannot read option inflate "1" of json(): expected true or false'],
  [
    { limitBytes: 5 },
    'json() has no option "limitBytes"; did you mean "limit"? Its options: limit, inflate, strict',
  ],
])('json(%j) throws at start: %s', (options, message) => {
  expect(() => json(options)).toThrow(new TypeError(message));
});

test('the metadata of json contains the accepted media types and its code', () => {
  expect(metadataOf(json({ limit: 10 }))).toEqual({
    body: {
      mediaTypes: ['application/json', 'application/*+json'],
      limit: 10,
      errors: [{ status: 400, code: 'INVALID_JSON' }],
    },
  });
});
