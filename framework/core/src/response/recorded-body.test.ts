import { Readable } from 'node:stream';
import { expect, test } from 'vitest';

import { createApp } from '../application.ts';
import type { Context, Middleware } from '../context.ts';
import {
  allowReplacement,
  recordedBody,
  recordedLength,
  replaceBody,
  responseHeader,
} from '../extension.ts';
import { request } from '../testing/index.ts';
import type { Body } from './body.ts';

/** The response of `handler`, and what `read` returns after `next()`. */
async function readAfter<T>(handler: Middleware, read: (ctx: Context) => T) {
  let found: T | undefined;
  const app = createApp().use(async (ctx, next) => {
    await next();
    found = read(ctx);
  }, handler);
  return { response: await request(app, '/'), found };
}

test('middleware replaces the recorded body after next()', async () => {
  const { response } = await readAfter(
    (ctx) => ctx.send('text'),
    (ctx) => replaceBody(ctx, String(recordedBody(ctx)).toUpperCase()),
  );

  expect(await response.text()).toBe('TEXT');
  expect(response.headers.get('content-length')).toBe('4');
});

test('after allowReplacement, the next response replaces the recorded one', async () => {
  const app = createApp();
  const first = Readable.from(['first']);
  app.use((ctx) => {
    ctx.send(first);
    allowReplacement(ctx);
    ctx.json({ is: 'second' });
  });

  const response = await request(app, '/');

  expect(await response.json()).toEqual({ is: 'second' });
  expect(first.destroyed).toBe(true);
});

test('the length of a replaced Blob is not sent', async () => {
  const { response } = await readAfter(
    (ctx) => ctx.send(new Blob(['blob'])),
    (ctx) => replaceBody(ctx, Buffer.from('other')),
  );

  expect(await response.text()).toBe('other');
});

test('recordedBody is undefined without a response and after it was sent', async () => {
  let before: unknown = 'not read';
  const { found } = await readAfter((ctx) => {
    before = recordedBody(ctx);
    ctx.raw.res.end('sent');
  }, recordedBody);

  expect([before, found]).toEqual([undefined, undefined]);
});

test.each([
  ['vary', 'Accept, Origin'],
  ['content-type', 'application/json; charset=utf-8'],
  ['etag', undefined],
])('responseHeader returns for %s %j', async (name, value) => {
  const { found } = await readAfter(
    (ctx) => ctx.append('Vary', 'Accept').append('Vary', 'Origin').json({}),
    (ctx) => responseHeader(ctx, name),
  );

  expect(found).toBe(value);
});

test.each<readonly [Body, number]>([
  ['é', 2],
  [new Uint8Array(3), 3],
  [new Blob(['blob']), 4],
  [Readable.from(['text']), -1],
])('recordedLength returns the bytes of a body (case %#)', async (body, length) => {
  const { found } = await readAfter((ctx) => ctx.send(body), recordedLength);

  expect(found).toBe(length);
});
