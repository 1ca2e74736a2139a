import { Readable } from 'node:stream';
import { expect, test } from 'vitest';

import { createApp } from '../application.ts';
import {
  allowReplacement,
  recordedBody,
  recordedLength,
  replaceBody,
  responseHeader,
} from '../extension.ts';
import { request } from '../testing/index.ts';
import type { Body } from './body.ts';

test('middleware replaces the recorded body after next()', async () => {
  const app = createApp();
  app.use(async (ctx, next) => {
    await next();
    replaceBody(ctx, String(recordedBody(ctx)).toUpperCase());
  });
  app.use((ctx) => ctx.send('text'));

  const response = await request(app, '/');

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
  const app = createApp();
  app.use(async (ctx, next) => {
    await next();
    replaceBody(ctx, Buffer.from('other'));
  });
  app.use((ctx) => ctx.send(new Blob(['blob'])));

  const response = await request(app, '/');

  expect(await response.text()).toBe('other');
});

test('recordedBody is undefined without a response and after it was sent', async () => {
  const bodies: unknown[] = [];
  const app = createApp();
  app.use(async (ctx, next) => {
    bodies.push(recordedBody(ctx));
    await next();
    bodies.push(recordedBody(ctx));
  });
  app.use((ctx) => void ctx.raw.res.end('sent'));

  await request(app, '/');

  expect(bodies).toEqual([undefined, undefined]);
});

test.each([
  ['vary', 'Accept, Origin'],
  ['content-type', 'application/json; charset=utf-8'],
  ['etag', undefined],
])('responseHeader returns for %s %j', async (name, value) => {
  let found: string | undefined;
  const app = createApp();
  app.use(async (ctx, next) => {
    await next();
    found = responseHeader(ctx, name);
  });
  app.use((ctx) => ctx.append('Vary', 'Accept').append('Vary', 'Origin').json({}));

  await request(app, '/');

  expect(found).toBe(value);
});

test.each<readonly [Body, number]>([
  ['é', 2],
  [new Uint8Array(3), 3],
  [new Blob(['blob']), 4],
  [Readable.from(['text']), -1],
])('recordedLength returns the bytes of a body (case %#)', async (body, length) => {
  let found: number | undefined;
  const app = createApp();
  app.use(async (ctx, next) => {
    await next();
    found = recordedLength(ctx);
  });
  app.use((ctx) => ctx.send(body));

  await request(app, '/');

  expect(found).toBe(length);
});
