import { Readable } from 'node:stream';
import zlib from 'node:zlib';

import { createApp, type Middleware } from '@fw/core';
import { quiet, recordLog, request } from '@fw/core/testing';
import { errorHandler, ServiceUnavailableError } from '@fw/errors';
import { describe, expect, test } from 'vitest';
import { serve } from '../../core/src/testing/vitest.ts';
import { type CompressOptions, compress } from './compress.ts';
import { sendNotModified } from './preconditions.ts';

const LINE = 'a line of text that repeats\n';
const TEXT = LINE.repeat(100);
const LONG_TEXT = LINE.repeat(5_000);
const BROWSER = 'gzip, deflate, br, zstd';

const text: Middleware = (ctx) => ctx.send(TEXT);

function createTextApp(handler: Middleware, options?: CompressOptions) {
  const app = createApp({ logger: quiet });
  return app.use(compress(options), errorHandler(), handler);
}

/** Sends a request and decodes the body. */
async function send(
  handler: Middleware,
  accept: string | undefined = BROWSER,
  { options, headers, method = 'GET' }: SendOptions = {},
) {
  const response = await request(createTextApp(handler, options), '/', {
    method,
    headers: { ...(accept && { 'Accept-Encoding': accept }), ...headers },
  });
  return { response, ...(await decode(response)) };
}

interface SendOptions {
  readonly options?: CompressOptions;
  readonly headers?: Record<string, string>;
  readonly method?: string;
}

async function decode(response: Response) {
  const encoding = response.headers.get('content-encoding');
  const body = Buffer.from(await response.arrayBuffer());
  const decoders: Record<string, (body: Buffer) => Buffer> = {
    zstd: zlib.zstdDecompressSync,
    br: zlib.brotliDecompressSync,
    gzip: zlib.gunzipSync,
  };
  const decoder = decoders[body.length > 0 ? String(encoding) : ''];
  const decoded = decoder ? decoder(body) : body;
  return { encoding, text: decoded.toString(), length: body.length };
}

test.each([
  [BROWSER, 'zstd'],
  ['gzip, br', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0.5, zstd;q=0.5', 'zstd'],
  ['zstd;q=0, *', 'br'],
  ['gzip;q=0.5, identity;q=0.9', null],
  ['gzip;q=0.5, *;q=0', 'gzip'],
  ['gzip;q=0', null],
  ['', null],
  [undefined, null],
])('Accept-Encoding %j gets the encoding %j', async (accept, encoding) => {
  const headers: Record<string, string> = accept === undefined ? {} : { 'Accept-Encoding': accept };
  const response = await request(createTextApp(text), '/', { headers });

  expect(response.headers.get('vary')).toBe('Accept-Encoding');
  expect(await decode(response)).toMatchObject({ encoding, text: TEXT });
});

describe.each(['zstd', 'br', 'gzip'] as const)('%s', (encoding) => {
  test.each<readonly [string, string, Middleware]>([
    ['a text', TEXT, text],
    ['a long text', LONG_TEXT, (ctx) => ctx.send(LONG_TEXT)],
    ['JSON', JSON.stringify({ TEXT }), (ctx) => ctx.json({ TEXT })],
    ['text beyond ASCII', 'é'.repeat(600), (ctx) => ctx.send('é'.repeat(600))],
    ['bytes', TEXT, (ctx) => ctx.set('Content-Type', 'text/csv').send(Buffer.from(TEXT))],
  ])('%s has the length of the encoded body', async (_, expected, handler) => {
    const { response, ...body } = await send(handler, encoding);

    expect(body).toMatchObject({ encoding, text: expected });
    expect(response.headers.get('content-length')).toBe(String(body.length));
    expect(body.length).toBeLessThan(expected.length / 2);
    expect(response.headers.get('accept-ranges')).toBeNull();
  });

  test.each<readonly [string, Middleware]>([
    ['a stream', (ctx) => ctx.set('Content-Type', 'text/plain').send(Readable.from([LONG_TEXT]))],
    ['a Blob', (ctx) => ctx.send(new Blob([LONG_TEXT], { type: 'text/plain' }))],
  ])('%s is sent without a length', async (_, handler) => {
    const { response, ...body } = await send(handler, encoding);

    expect(body).toMatchObject({ encoding, text: LONG_TEXT });
    expect(response.headers.get('content-length')).toBeNull();
  });

  test('HEAD has the headers of GET', async () => {
    const get = await send(text, encoding);
    const head = await send(text, encoding, { method: 'HEAD' });

    for (const name of ['content-encoding', 'content-length', 'content-type', 'vary']) {
      expect(head.response.headers.get(name)).toBe(get.response.headers.get(name));
    }
    expect(head.length).toBe(0);
  });
});

test.each<readonly [string, Middleware]>([
  ['a body below the threshold', (ctx) => ctx.send('small')],
  ['a Blob below the threshold', (ctx) => ctx.send(new Blob(['small'], { type: 'text/plain' }))],
  ['an image', (ctx) => ctx.set('Content-Type', 'image/png').send(TEXT)],
  ['an event stream', (ctx) => ctx.set('Content-Type', 'text/event-stream').send(TEXT)],
  ['no-transform', (ctx) => ctx.set('Cache-Control', 'No-Transform ,private').send(TEXT)],
  ['an encoded body', (ctx) => ctx.set('Content-Encoding', 'identity').send(TEXT)],
  ['a range', (ctx) => ctx.set('Content-Range', 'bytes 0-2799/9999').send(TEXT)],
  ['a digest', (ctx) => ctx.set('Repr-Digest', 'sha-256=:AA==:').send(TEXT)],
  ['204', (ctx) => Object.assign(ctx, { status: 204 }).send(TEXT)],
  ['205', (ctx) => Object.assign(ctx, { status: 205 }).send(TEXT)],
  ['no type', (ctx) => ctx.set('Content-Type', '').send(TEXT)],
])('%s is sent unchanged', async (_, handler) => {
  const plain = await request(createApp().use(handler), '/');
  const { response } = await send(handler);

  const headers = ({ headers }: Response) => [...headers].filter(([name]) => name !== 'date');
  expect(headers(response)).toEqual(headers(plain));
});

test.each([
  'application/json; charset=utf-8',
  'image/svg+xml',
  'application/json ; charset=utf-8',
  'font/ttf',
])('%s is compressed', async (type) => {
  const { encoding } = await send((ctx) => ctx.set('Content-Type', type).send(TEXT));

  expect(encoding).toBe('zstd');
});

test('a problem response is compressed', async () => {
  const { response, encoding, text } = await send((ctx) => ctx.throw(404, TEXT));

  expect([response.status, encoding]).toEqual([404, 'zstd']);
  expect(JSON.parse(text)).toMatchObject({ code: 'NOT_FOUND', detail: TEXT });
});

test.each([
  ['Accept', 'Accept, Accept-Encoding'],
  ['Accept,Accept-Encoding', 'Accept,Accept-Encoding'],
  ['accept-encoding,Accept', 'accept-encoding,Accept'],
  ['X-Accept-Encoding', 'X-Accept-Encoding, Accept-Encoding'],
  ['*', '*'],
])('a response with Vary: %s has Vary: %s', async (own, vary) => {
  const { response } = await send((ctx) => ctx.set('Vary', own).send(TEXT));

  expect(response.headers.get('vary')).toBe(vary);
});

describe('entity tags', () => {
  const tagged: Middleware = (ctx) => {
    if (!sendNotModified(ctx, '"3"')) ctx.set('Accept-Ranges', 'bytes').send(TEXT);
  };

  test.each<readonly [string, Middleware]>([
    ['strong', tagged],
    ['weak', (ctx) => ctx.set('ETag', 'W/"3"').set('Accept-Ranges', 'bytes').send(TEXT)],
  ])(
    'of a compressed response with a %s tag is weak, and there are no ranges',
    async (_, handler) => {
      const { response } = await send(handler);

      expect(response.headers.get('etag')).toBe('W/"3"');
      expect(response.headers.get('accept-ranges')).toBe('none');
    },
  );

  test.each([
    [null, { 'If-None-Match': '"3"' }],
    ['"3"', {}],
  ])('304 of the handler with the tag %s to %j keeps it', async (etag, headers) => {
    const handler: Middleware = (ctx) => {
      ctx.status = 304;
      if (etag !== null) ctx.set('ETag', etag);
      ctx.send('');
    };
    const { response } = await send(handler, BROWSER, { headers });

    expect([response.status, response.headers.get('etag')]).toEqual([304, etag]);
  });

  test('an unchanged response keeps its strong tag', async () => {
    const { response } = await send(tagged, 'identity');

    expect(response.headers.get('etag')).toBe('"3"');
    expect(response.headers.get('accept-ranges')).toBe('bytes');
  });

  test.each(['W/"3"', '"3"'])('304 to If-None-Match %s has this tag', async (etag) => {
    const { response } = await send(tagged, BROWSER, { headers: { 'If-None-Match': etag } });

    expect(response.status).toBe(304);
    expect(response.headers.get('etag')).toBe(etag);
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    expect(response.headers.get('content-encoding')).toBeNull();
  });
});

test.each([
  ['text/plain', 206, 'Accept-Encoding'],
  ['text/plain', 304, 'Accept-Encoding'],
  ['image/png', 206, null],
  ['image/png', 304, null],
])('%s with status %i has Vary: %s, as the whole response', async (type, status, vary) => {
  const handler: Middleware = (ctx) => {
    ctx.status = status;
    ctx.set('Content-Type', type);
    if (status === 206) ctx.set('Content-Range', 'bytes 0-3/9999');
    ctx.send(status === 206 ? 'part' : '');
  };
  const { response } = await send(handler, BROWSER);

  expect(response.status).toBe(status);
  expect(response.headers.get('vary')).toBe(vary);
});

test('a stream that fails before its first chunk gets a problem response', async () => {
  const { response, encoding, text } = await send((ctx) => {
    const failing = new Readable({ read: () => failing.destroy(new Error('failed')) });
    ctx.set('Content-Type', 'text/plain').send(failing);
  });

  expect([response.status, encoding]).toEqual([500, null]);
  expect(JSON.parse(text)).toMatchObject({ code: 'INTERNAL_ERROR' });
});

test('an error that replaces the response during its compression is sent uncompressed', async () => {
  const { logger, lines } = recordLog();
  let compression: Promise<unknown> | undefined;
  const app = createApp({ logger });
  const fail: Middleware = (_ctx, next) => {
    compression = next();
    throw new ServiceUnavailableError();
  };
  app.use(errorHandler(), fail, compress(), (ctx) => ctx.send(LONG_TEXT));

  const response = await request(app, '/', { headers: { 'Accept-Encoding': BROWSER } });
  await compression;

  expect(response.status).toBe(503);
  expect(response.headers.get('content-encoding')).toBeNull();
  expect(await response.json()).toMatchObject({ status: 503 });
  expect(lines.filter((line) => line.startsWith('warn:'))).toEqual([]);
});

test('a client that disconnects ends the stream', async () => {
  const source = Readable.from(endlessLines());
  const app = createTextApp((ctx) => ctx.set('Content-Type', 'text/plain').send(source));
  const { port } = await serve(app);
  const client = new AbortController();
  const response = await fetch(`http://127.0.0.1:${port}`, { signal: client.signal });
  const closed = new Promise((resolve) => source.once('close', resolve));

  client.abort();

  expect(response.headers.get('content-encoding')).not.toBeNull();
  await closed;
});

function* endlessLines() {
  for (;;) yield LONG_TEXT;
}

test('the options change threshold and order of the encodings', async () => {
  const options = { encodings: ['gzip', 'br'], thresholdBytes: 5 } as const;

  const { encoding } = await send((ctx) => ctx.send('small'), BROWSER, { options });

  expect(encoding).toBe('gzip');
});

test('an empty body is not compressed with the threshold 0', async () => {
  const handler: Middleware = (ctx) => {
    ctx.status = 404;
    ctx.set('Content-Type', 'text/plain').send('');
  };

  const { response, length } = await send(handler, BROWSER, { options: { thresholdBytes: 0 } });

  expect([response.headers.get('content-encoding'), length]).toEqual([null, 0]);
});
