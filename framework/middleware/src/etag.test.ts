import { Readable } from 'node:stream';

import { createApp, type Middleware } from '@fw/core';
import { request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { describe, expect, test } from 'vitest';

import { type EtagOptions, etag } from './etag.ts';

const hello: Middleware = (ctx) => ctx.json({ hello: 'world' });

function createTaggedApp(handler: Middleware = hello, options?: EtagOptions) {
  return createApp().use(etag(options), errorHandler(), handler);
}

async function tagOf(handler: Middleware, options?: EtagOptions): Promise<string | null> {
  return (await request(createTaggedApp(handler, options), '/')).headers.get('etag');
}

describe('the tag', () => {
  test('depends on the body only', async () => {
    const first = await tagOf(hello);
    const again = await tagOf((ctx) => ctx.set('X-Other', '1').send('{"hello":"world"}'));
    const bytes = await tagOf((ctx) => ctx.send(Buffer.from('{"hello":"world"}')));
    const other = await tagOf((ctx) => ctx.json({ hello: 'fw' }));

    expect(first).toMatch(/^"[\w-]{27}"$/);
    expect([again, bytes]).toEqual([first, first]);
    expect(other).not.toBe(first);
  });

  test('is weak with the option weak', async () => {
    expect(await tagOf(hello, { weak: true })).toBe(`W/${await tagOf(hello)}`);
  });

  test('of the handler is kept', async () => {
    expect(await tagOf((ctx) => ctx.set('ETag', '"7"').json({}))).toBe('"7"');
  });

  test.each<readonly [string, Middleware]>([
    ['a stream', (ctx) => ctx.send(Readable.from(['text']))],
    ['an error', (ctx) => ctx.throw(404)],
    ['204', (ctx) => ctx.send('')],
    ['a response with no-store', (ctx) => ctx.set('Cache-Control', 'private, No-Store').json({})],
  ])('is not added to %s', async (_, handler) => {
    expect(await tagOf(handler)).toBeNull();
  });

  test('is not added without a response, and not to other methods', async () => {
    const none = await request(createApp().use(etag()), '/');
    const post = await request(createTaggedApp(), '/', { method: 'POST' });

    expect([none.status, none.headers.get('etag')]).toEqual([404, null]);
    expect(post.headers.get('etag')).toBeNull();
  });
});

describe('If-None-Match', () => {
  test.each(['GET', 'HEAD'])('%s of the current body gets 304 without content', async (method) => {
    const app = createTaggedApp((ctx) => ctx.set('Cache-Control', 'no-cache').json({ a: 1 }));
    const tag = (await request(app, '/')).headers.get('etag')!;

    const response = await request(app, '/', { method, headers: { 'If-None-Match': tag } });

    expect(response.status).toBe(304);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      etag: tag,
      'cache-control': 'no-cache',
    });
    expect(response.headers.get('content-type')).toBeNull();
    expect(await response.text()).toBe('');
  });

  test("of the handler's tag gets 304, and its stream is closed", async () => {
    const stream = Readable.from(['text']);
    const app = createTaggedApp((ctx) => ctx.set('ETag', '"7"').send(stream));

    const response = await request(app, '/', { headers: { 'If-None-Match': 'W/"7"' } });

    expect(response.status).toBe(304);
    expect(stream.destroyed).toBe(true);
  });
});
