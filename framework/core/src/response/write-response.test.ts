import { EventEmitter, once } from 'node:events';
import { Duplex, Readable, Stream } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { createApp } from '../application.ts';
import type { Context } from '../context.ts';
import { openConnection, quiet, recordLog, request } from '../testing/index.ts';
import { exchange, GET, serve } from '../testing/vitest.ts';

/** The 404 that replaces the response of `prepare`. */
function failAfter(prepare: (ctx: Context) => unknown) {
  const app = createApp({ logger: quiet }).use((ctx) => {
    prepare(ctx);
    ctx.throw(404);
  });
  return request(app, '/');
}

describe('an error response', () => {
  test.each([
    ['Content-Security-Policy', "default-src 'none'"],
    ['X-Content-Type-Options', 'nosniff'],
    ['Cache-Control', 'no-store'],
    ['Cache-Control', 'private, No-Store, max-age=0'],
    ['Cache-Control', 'no-cache'],
    ['Cache-Control', 'private="a, b", no-cache'],
    ['Vary', 'Origin'],
  ])('keeps %s: %s', async (name, value) => {
    const response = await failAfter((ctx) => ctx.set(name, value));

    expect(response.status).toBe(404);
    expect(response.headers.get(name)).toBe(value);
  });

  test.each([
    'public, max-age=3600',
    'private, max-age=60',
    'private',
    'max-age=60, no-cache="Set-Cookie"',
    'max-age=60, extension="a, no-store, b"',
    'max-age=60, extension="\\", no-store, "',
    'max-age=60, extension=", no-store',
    'max-age=60, no-store-extension',
    'max-age=60, no-store"malformed"',
    'max-age=60; no-store',
    '',
  ])('replaces Cache-Control: %s by no-store', async (value) => {
    const response = await failAfter((ctx) => ctx.set('Cache-Control', value).send('a,b'));

    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ['Content-Encoding', 'gzip'],
    ['Content-Language', 'de'],
    ['Content-Range', 'bytes 0-1/2'],
    ['Content-Disposition', 'attachment; filename="report.csv"'],
    ['Content-Location', '/report.csv'],
    ['Content-Digest', 'sha-256=:abc=:'],
    ['Repr-Digest', 'sha-256=:abc=:'],
    ['Accept-Ranges', 'bytes'],
    ['ETag', '"1"'],
    ['Last-Modified', 'Thu, 01 Jan 2026 00:00:00 GMT'],
    ['Expires', 'Thu, 01 Jan 2037 00:00:00 GMT'],
    ['Location', '/elsewhere'],
  ])('does not keep %s: %s of the response that it replaces', async (name, value) => {
    const response = await failAfter((ctx) => ctx.set(name, value).send('a,b'));

    expect(response.status).toBe(404);
    expect(response.headers.get(name)).toBeNull();
    expect(response.headers.get('content-type')).toBe('application/problem+json');
  });
});

/** An application that sends the stream, and its logged errors. */
function streaming(stream: Readable | ReadableStream, prepare: (ctx: Context) => void = () => {}) {
  const { logger, ...logged } = recordLog();
  const app = createApp({ logger }).use((ctx) => {
    prepare(ctx);
    ctx.send(stream);
  });
  return { app, ...logged };
}

/** A stream that fails when it is read. */
function failing(error: Error): Readable {
  return new Readable({
    read() {
      setImmediate(() => this.destroy(error));
    },
  });
}

describe.each(['GET', 'HEAD'])('a stream that fails before its first byte, for %s', (method) => {
  test.each<readonly [string, () => Readable | ReadableStream]>([
    ['a Node stream', () => failing(new Error('disk broken'))],
    [
      'a web stream',
      () =>
        new ReadableStream({
          pull() {
            throw new Error('disk broken');
          },
        }),
    ],
    ['a stream of objects', () => Readable.from([{ 'disk broken': 1 }])],
    ['a stream that was destroyed', () => new Readable({ read() {} }).destroy()],
  ])('%s: 500', async (_, open) => {
    const stream = open();
    const { app, errors } = streaming(stream, (ctx) => {
      ctx.set('Content-Type', 'text/csv').set('ETag', '"1"').set('X-Kept', 'yes');
    });

    const response = await request(app, '/', { method });

    expect(response.status).toBe(500);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('etag')).toBeNull();
    expect(response.headers.get('x-kept')).toBe('yes');
    expect(await response.text()).not.toContain('disk broken');
    expect(errors).toHaveLength(1);
    if (stream instanceof Readable) expect(stream.destroyed).toBe(true);
  });

  test('an error with a status: this status', async () => {
    const error = Object.assign(new Error('No such report'), { status: 404, expose: true });
    const { app, errors } = streaming(failing(error));

    const response = await request(app, '/', { method });

    expect(response.status).toBe(404);
    if (method === 'GET') expect(await response.json()).toMatchObject({ detail: 'No such report' });
    expect(errors).toEqual([]);
  });
});

/** The stream, once it has ended. */
async function ended(stream: Readable): Promise<Readable> {
  await once(stream.resume(), 'end');
  return stream;
}

describe('a stream', () => {
  test.each<readonly [string, () => Readable | Promise<Readable>]>([
    ['that is empty', () => Readable.from([])],
    ['that has ended already', () => ended(Readable.from([]))],
    [
      'that has ended already, but can be written',
      () =>
        ended(
          new Duplex({
            read() {
              this.push(null);
            },
          }),
        ),
    ],
  ])('%s is an empty body', async (_, open) => {
    const response = await request(streaming(await open()).app, '/');

    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });

  test.each([
    ['GET', undefined],
    ['POST', undefined],
    ['POST', ''],
    ['POST', 'x'.repeat(200_000)],
  ])('that is the body of a %s request is echoed', async (method, body) => {
    const app = createApp({ logger: quiet }).use((ctx) => ctx.send(ctx.raw.req));

    const response = await request(app, '/', { method, ...(body !== undefined && { body }) });

    expect(response.status).toBe(200);
    expect(await response.text()).toBe(body ?? '');
  });

  test('is sent completely and in order', async () => {
    const chunks = Array.from({ length: 500 }, (_, index) => `${index}:${'x'.repeat(index)};`);
    const bodies = [
      Readable.from(chunks),
      Readable.from(chunks.map((chunk) => Buffer.from(chunk))),
      Readable.from(chunks, { objectMode: false }),
      Readable.toWeb(Readable.from(chunks)) as ReadableStream,
    ];

    const texts = await Promise.all(
      bodies.map(async (body) => (await request(streaming(body).app, '/')).text()),
    );

    expect(texts).toEqual(bodies.map(() => chunks.join('')));
  });

  test('is destroyed if the client disconnects before it is sent, without a log entry', async () => {
    const stream = new Readable({ read() {} });
    const { promise: hasArrived, resolve: arrive } = Promise.withResolvers<void>();
    const { logger, problems } = recordLog();
    const app = createApp({ logger }).use(async (ctx) => {
      arrive();
      await new Promise((resolve) => ctx.raw.res.once('close', resolve));
      ctx.send(stream);
    });
    const server = await serve(app);
    const connection = openConnection(server.port).send(GET);
    await hasArrived;

    connection.close();

    await expect.poll(() => stream.destroyed).toBe(true);
    expect(problems).toEqual([]);
  });

  test('with a chunk that is neither text nor bytes is aborted and logged', async () => {
    const stream = new Readable({ objectMode: true, read() {} });
    stream.push('first');
    const { app, problems } = streaming(stream);
    const server = await serve(app);
    const connection = openConnection(server.port).send(GET);
    await connection.read(/first/);

    stream.push({ second: 2 });

    expect(await connection.readAll()).not.toContain('second');
    expect(problems).toEqual(['error: GET /: the response stream failed']);
  });

  test.each(['at once', 'before its first byte'])(
    'is destroyed if the middleware sends the head with ctx.raw %s',
    async (when) => {
      const body = new Readable({ read() {} });
      const app = createApp({ logger: quiet }).use((ctx) => {
        ctx.send(body);
        const sendRaw = () => {
          ctx.raw.res.write('raw');
          body.push('late');
        };
        if (when === 'at once') sendRaw();
        else setImmediate(sendRaw);
      });
      const { port } = await serve(app);
      const client = openConnection(port).send(GET);

      await client.read(/raw/);

      await expect.poll(() => body.destroyed).toBe(true);
      client.close();
    },
  );

  test.each(['before its first byte', 'after it'])(
    'is destroyed when the client disconnects %s, without a log entry',
    async (moment) => {
      const stream = new Readable({ read() {} });
      const isOver = once(stream, 'close');
      const isHandled = Promise.withResolvers<void>();
      if (moment === 'after it') stream.push('first');
      const { app, errors } = streaming(stream, () => isHandled.resolve());
      const server = await serve(app);
      const connection = openConnection(server.port).send(GET);
      await (moment === 'after it' ? connection.read(/first/) : isHandled.promise);

      connection.close();

      await isOver;
      expect(errors).toEqual([]);
    },
  );

  test('without an end is destroyed by HEAD, which sends the headers', async () => {
    const stream = new Readable({ read() {} });
    stream.push('first');

    const response = await request(streaming(stream).app, '/', { method: 'HEAD' });

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(stream.destroyed).toBe(true);
  });

  test.each([204, 205, 304])('is destroyed if the status is %i', async (status) => {
    const stream = new Readable({ read() {} });
    const { app } = streaming(stream, (ctx) => {
      ctx.status = status;
    });

    const response = await request(app, '/');

    expect(response.status).toBe(status);
    expect(stream.destroyed).toBe(true);
  });

  test('that can be written is complete at its end, even if it is destroyed then', async () => {
    const stream = new Duplex({ read() {} });
    stream.push('text');
    stream.push(null);
    stream.on('end', () => stream.destroy());
    const { app, errors } = streaming(stream, (ctx) => {
      if (ctx.path === '/next') ctx.throw(404);
    });
    const server = await serve(app);
    const client = openConnection(server.port).send(GET);
    await Promise.all([client.read(/text\r\n0\r\n\r\n/), once(stream, 'close')]);

    const received = await client.send(GET.replace('/', '/next')).read(/NOT_FOUND/);
    client.close();

    expect(received).toMatch(/^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 404 /);
    expect(errors).toEqual([]);
  });

  test('of a package with classes of its own is sent', async () => {
    const Foreign = Object.create(EventEmitter.prototype, {
      ...Object.getOwnPropertyDescriptors(Stream.prototype),
      ...Object.getOwnPropertyDescriptors(Readable.prototype),
    });
    const stream = Object.setPrototypeOf(Readable.from(['a', 'b']), Foreign);

    const response = await request(streaming(stream).app, '/');

    expect(stream).not.toBeInstanceOf(Readable);
    expect(await response.text()).toBe('ab');
  });
});

test.each([
  ['text', true],
  ['bytes', false],
])('a stream that always has %s lets other requests run', async (_, objectMode) => {
  let chunks = 0;
  let chunksBefore = Number.NaN;
  const source = async function* () {
    while (chunks < 1_000) {
      chunks++;
      yield 'a';
    }
  };
  const app = createApp({ logger: quiet }).use((ctx) => {
    setImmediate(() => {
      chunksBefore = chunks;
    });
    ctx.send(Readable.from(source(), { objectMode }));
  });

  const response = await request(app, '/');

  expect(await response.text()).toHaveLength(1_000);
  expect(chunksBefore).toBeLessThan(100);
});

test('a header that is set while a stream is sent has no effect and logs one warning', async () => {
  const { logger, lines } = recordLog();
  const app = createApp({ logger }).use((ctx) => {
    const { res } = ctx.raw;
    ctx.send(
      Readable.from(
        (async function* () {
          yield 'a';
          await nextTurn();
          res.setHeader('X-A', '1').removeHeader('X-B');
          yield 'b';
        })(),
      ),
    );
  });

  const response = await request(app, '/');

  expect(await response.text()).toBe('ab');
  expect(lines).toEqual([
    'warn: GET / called res.setHeader() after its response was sent: this has no effect; check res.headersSent before',
  ]);
});

describe('a response that cannot be written', () => {
  /** An application whose response is written with a changed `ctx.raw.res`, and its log. */
  function changing(change: (res: Context['raw']['res']) => void) {
    const { logger, ...logged } = recordLog();
    const app = createApp({ logger }).use((ctx) => {
      change(ctx.raw.res);
      ctx.json({});
    });
    return { app, ...logged };
  }

  test('is replaced by an error', async () => {
    const { app, errors } = changing((res) => {
      const { end } = res;
      res.end = () => {
        res.end = end;
        throw new Error('not yet');
      };
    });

    const response = await request(app, '/');

    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(errors).toEqual([new Error('not yet')]);
  });

  test('is aborted and logged if the error cannot be written either', async () => {
    const { app, problems, errors } = changing((res) => {
      res.statusMessage = 'a\nb';
    });
    const server = await serve(app);

    expect(await exchange(server.port, GET)).toBe('');
    expect(problems).toEqual([
      'error: GET / failed with 500',
      'error: GET / failed without a response',
    ]);
    expect(errors.join()).toMatch(/Invalid character.*Invalid character/);
  });
});
