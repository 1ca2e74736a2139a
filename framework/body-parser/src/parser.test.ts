import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { createApp, type ListeningServer, listen } from '@fw/core';
import { openConnection } from '@fw/core/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { json } from './json.ts';
import { createEcho, JSON_TYPE, post, problemOf } from './testing/echo.ts';

describe('the media type of a body', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json; a=b; charset=utf8',
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
    'application/x-json',
    'application/json-patch',
    'image/svg+json',
    'application/json, text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
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
    ['malformed', `${head('Content-Length: 1')}{`, 400],
    [
      'of another type',
      `${head('Content-Length: 2').replace('application/json', 'text/plain')}{}`,
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
    [
      '400 for a wrong checksum and trailing data',
      400,
      'gzip',
      Buffer.concat([gzipSync('{}').subarray(0, -8), Buffer.alloc(900_000)]),
    ],
    ['413 for a bomb', 413, 'gzip', gzipSync(Buffer.alloc(200_000_000, ' '))],
    [
      '200 for gzip with trailing data',
      200,
      'gzip',
      Buffer.concat([gzipSync('{}'), Buffer.alloc(900_000)]),
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
