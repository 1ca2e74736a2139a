import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { json } from '@fw/body-parser';
import { type BodyStream, type Context, createApp, type Middleware } from '@fw/core';
import { openConnection, quiet, recordLog, request } from '@fw/core/testing';
import { expect, expectTypeOf, test } from 'vitest';

import { serve } from '../testing/vitest.ts';

/** Responds with the number of bytes and their hash. */
async function digest(ctx: Context, stream = ctx.stream({ limit: 1_000_000 })) {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of stream) {
    expectTypeOf(chunk).toEqualTypeOf<Buffer>();
    hash.update(chunk);
    size += chunk.length;
  }
  ctx.json({ size, hash: hash.digest('hex') });
}

function createLoggedApp(...middleware: readonly Middleware[]) {
  const { logger, errors } = recordLog();
  return { app: createApp({ logger }).use(...middleware), errors };
}

/** A server whose handler records what its stream fails with. */
async function startReader({ deadlineMs = 0 } = {}) {
  const errors: unknown[] = [];
  const app = createApp({ logger: quiet, deadlineMs });
  app.use(async (ctx) => {
    try {
      await digest(ctx, ctx.stream({ limit: 1_000 }));
    } catch (error) {
      errors.push(error);
      throw error;
    }
  });
  const server = await serve(app);
  const head = (...fields: string[]) =>
    `${['POST / HTTP/1.1', 'Host: a', ...fields].join('\r\n')}\r\n\r\n`;
  return { ...server, errors, head };
}

test('a body arrives completely, also if the handler first waits for something else', async () => {
  const body = Buffer.alloc(900_000, 'bytes of a file');
  const { app } = createLoggedApp(async (ctx) => {
    await sleep(10);
    await digest(ctx);
  });

  const response = await request(app, '/', { method: 'PUT', body });

  const hash = createHash('sha256').update(body).digest('hex');
  expect(await response.json()).toEqual({ size: body.length, hash });
});

test('a body arrives only as fast as it is read', async () => {
  const size = 1_000_000;
  let unread = 0;
  const { app } = createLoggedApp(async (ctx) => {
    const stream = ctx.stream({ limit: size });
    const { req } = ctx.raw; // is paused only if Node's parser does not pass the body directly
    await expect.poll(() => req.isPaused() || req.socket.isPaused()).toBe(true);
    unread = stream.readableLength;
    await digest(ctx, stream);
  });
  const { port } = await serve(app);
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`;
  const client = openConnection(port).send(head + 'x'.repeat(size));

  expect(await client.read(/size/)).toContain(`"size":${size}`);
  expect(unread).toBeLessThan(size / 2);
  client.close();
});

test('a body may have exactly the limit', async () => {
  const { port, head } = await startReader();
  const client = openConnection(port);

  client.send(`${head('Content-Length: 1000', 'Connection: close')}${'x'.repeat(1_000)}`);

  expect(await client.readAll()).toMatch(/^HTTP\/1\.1 200 .*"size":1000/s);
});

test.each(['GET', 'POST'])('%s without a body is an empty stream', async (method) => {
  const { app } = createLoggedApp((ctx) => digest(ctx));

  expect(await (await request(app, '/', { method })).json()).toMatchObject({ size: 0 });
});

test.each([
  ['announced', 'Content-Length: 1001', 'x'.repeat(1_001)],
  ['in chunks', 'Transfer-Encoding: chunked', `3e9\r\n${'x'.repeat(1_001)}\r\n0\r\n\r\n`],
])('a larger body, %s, gets 413, and the connection serves the next request', async (...row) => {
  const [, field, body] = row;
  const { port, head } = await startReader();
  const client = openConnection(port).send(head(field) + body);

  await client.read(/^HTTP\/1\.1 413 .*"code":"PAYLOAD_TOO_LARGE"/s);
  client.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');

  expect(await client.readAll()).toMatch(/HTTP\/1\.1 200 .*"size":0/s);
});

test('a client that expects 100 Continue gets it, but not for a larger body', async () => {
  const { port, head } = await startReader();
  const expecting = (length: number) =>
    openConnection(port).send(head(`Content-Length: ${length}`, 'Expect: 100-continue'));
  const accepted = expecting(4);

  expect(await accepted.read(/\r\n\r\n$/)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  expect(await accepted.send('body').read(/size/)).toContain('"size":4');
  expect(await expecting(1_001).readAll()).toMatch(/^HTTP\/1\.1 413 /);
});

test('the stream fails when the client disconnects', async () => {
  const { port, head, errors } = await startReader();
  const client = openConnection(port).send(`${head('Content-Length: 100')}half`);
  await sleep(20);

  client.close();

  await expect.poll(() => errors).toEqual([expect.objectContaining({ status: 400 })]);
});

test('the stream fails at the deadline of the request: 503', async () => {
  const { port, head, errors } = await startReader({ deadlineMs: 50 });
  const client = openConnection(port).send(`${head('Content-Length: 100')}half`);

  expect(await client.read(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 503 /);
  expect(errors).toEqual([expect.objectContaining({ name: 'TimeoutError' })]);
  client.close();
});

test('the stream of a body that is first read after the deadline fails', async () => {
  let reading: BodyStream | undefined;
  const app = createApp({ logger: quiet, deadlineMs: 5 });
  app.use(async (ctx) => {
    await expect.poll(() => ctx.signal.aborted).toBe(true);
    reading = ctx.stream({ limit: 1_000 });
    await digest(ctx, reading);
  });

  await request(app, '/', { method: 'POST', body: 'late' });

  await expect.poll(() => reading?.errored).toMatchObject({ name: 'TimeoutError' });
});

test('an invalid chunk fails the stream: 400', async () => {
  const { port, head, errors } = await startReader();
  const client = openConnection(port).send(
    `${head('Transfer-Encoding: chunked')}4\r\nhalf\r\nZ\r\n`,
  );

  expect(await client.readAll()).toMatch(/^HTTP\/1\.1 400 /);
  client.close();
  await expect.poll(() => errors).toHaveLength(1);
});

test('a body whose response was sent early is discarded, and its stream destroyed', async () => {
  let body: BodyStream | undefined;
  const { app } = createLoggedApp((ctx) => {
    body = ctx.stream({ limit: 1_000_000 });
    ctx.json({ isEarly: true });
  });
  const { port } = await serve(app);
  const post = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n${'x'.repeat(500_000)}`;
  const client = openConnection(port).send(post + post);

  await client.read(/isEarly.*isEarly/s);

  await expect
    .poll(() => body?.errored?.message)
    .toBe('The response was sent before its request body');
  client.close();
});

test('a server that closes still receives the rest of a body', async () => {
  const { port, head, close } = await startReader();
  const client = openConnection(port).send(`${head('Content-Length: 8')}half`);
  await sleep(20);

  const closed = close({ timeoutMs: 60_000 });
  client.send('half');

  expect(await client.readAll()).toMatch(/^HTTP\/1\.1 200 .*"size":8/s);
  await closed;
});

test('a body that a parser has read cannot be streamed', async () => {
  const { app, errors } = createLoggedApp(json(), (ctx) => digest(ctx));

  const response = await request(app, '/x', { method: 'POST', json: { a: 1 } });

  expect(response.status).toBe(500);
  expect(errors.map(String)).toEqual([
    'TypeError: Cannot stream the body of POST /x: it was already read; use no body parser for this route, and call ctx.stream() once',
  ]);
});

test('an empty chunked body that json() has read cannot be streamed', async () => {
  const { app, errors } = createLoggedApp(
    async (_ctx, next) => {
      await sleep(5);
      await next();
    },
    json(),
    (ctx) => digest(ctx),
  );

  const headers = { 'transfer-encoding': 'chunked' };
  const response = await request(app, '/x', { method: 'POST', headers });

  expect(response.status).toBe(500);
  expect(errors).toHaveLength(1);
});

test('a streamed body cannot be parsed', async () => {
  const { app, errors } = createLoggedApp(async (ctx, next) => {
    for await (const _ of ctx.stream({ limit: 100 }));
    await next();
  }, json());

  const response = await request(app, '/x', { method: 'POST', json: { a: 1 } });

  expect(response.status).toBe(500);
  expect(errors.map(String)).toEqual([
    'TypeError: Cannot parse the body of POST /x: ctx.stream() has it; use no body parser for this route',
  ]);
});

test.each([
  [undefined, 'Cannot read the options "undefined" of ctx.stream(): expected an object'],
  [{}, 'ctx.stream() needs the option limit: a whole number from 1 to'],
  [{ limit: '1mb' }, 'Cannot read option limit "1mb" of ctx.stream(): expected a whole number'],
])('ctx.stream(%j) is a TypeError', async (options, message) => {
  const { app, errors } = createLoggedApp((ctx) => void ctx.stream(options as never));

  await request(app, '/', { method: 'POST', body: 'x' });

  expect(errors.map(String)).toEqual([expect.stringContaining(message)]);
});
