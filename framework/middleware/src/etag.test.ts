import { Readable } from 'node:stream';

import { createApp, type Middleware } from '@fw/core';
import { request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import express from 'express';
import { Hono } from 'hono';
import { etag as honoEtag } from 'hono/etag';
import { describe, expect, test } from 'vitest';

import { expectSection, markdownTable } from '../../../deploy/local/testing/markdown.ts';
import { compress } from './compress/compress.ts';
import { type EtagOptions, etag } from './etag.ts';
import { peer } from './testing/peers.ts';

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
    ['201', (ctx) => Object.assign(ctx, { status: 201 }).json({})],
    ['204', (ctx) => ctx.send('')],
    ['a response with no-store', (ctx) => ctx.set('Cache-Control', 'private, no-store').json({})],
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

  test('of a compressed response gets 304', async () => {
    const app = createApp().use(compress(), etag(), (ctx) => ctx.send('text '.repeat(500)));
    const headers = { 'Accept-Encoding': 'gzip' };
    const tag = (await request(app, '/', { headers })).headers.get('etag')!;

    const response = await request(app, '/', { headers: { ...headers, 'If-None-Match': tag } });

    expect(tag).toMatch(/^W\//);
    expect(response.status).toBe(304);
    expect(response.headers.get('etag')).toBe(tag);
  });
});

test.each<readonly [EtagOptions, string]>([
  [{ weak: 'yes' as never }, 'option weak "yes" of etag(): expected true or false'],
  [{ strong: true } as never, 'etag() has no option "strong"; its options: weak'],
])('etag rejects %j', (options, message) => {
  expect(() => etag(options)).toThrow(TypeError);
  expect(() => etag(options)).toThrow(message);
});

test('the comparison with express and hono/etag in the README is up to date', async () => {
  const apps = [
    createApp().use(etag(), (ctx) => {
      if (ctx.path === '/own') ctx.set('ETag', '"7"');
      if (ctx.path === '/no-store') ctx.set('Cache-Control', 'no-store');
      if (ctx.path === '/error') ctx.status = 409;
      ctx.json({});
    }),
    peer(
      express().use((req, res) => {
        if (req.url === '/own') res.setHeader('ETag', '"7"');
        if (req.url === '/no-store') res.setHeader('Cache-Control', 'no-store');
        if (req.url === '/error') res.status(409);
        res.json({});
      }),
    ),
    peer(
      new Hono().use(honoEtag()).all('*', (c) => {
        if (c.req.path === '/own') c.header('ETag', '"7"');
        if (c.req.path === '/no-store') c.header('Cache-Control', 'no-store');
        return c.json({}, c.req.path === '/error' ? 409 : 200);
      }),
    ),
  ];
  const same = (tag: string) => tag;
  const cases: readonly (readonly [string, string, string, ((tag: string) => string)?])[] = [
    ['`GET`', 'GET', '/'],
    ['`If-None-Match` with the tag', 'GET', '/', same],
    ['`If-None-Match` with the weak or strong form', 'GET', '/', otherForm],
    ['`If-None-Match: "1", <tag>`', 'GET', '/', (tag) => `"1", ${tag}`],
    ['`If-None-Match: *`', 'GET', '/', () => '*'],
    ['`If-None-Match: <tag>x`', 'GET', '/', (tag) => `${tag}x`],
    ['`HEAD` with the tag', 'HEAD', '/', same],
    ['`POST` with the tag', 'POST', '/', same],
    ['`ETag` of the handler', 'GET', '/own', same],
    ['`Cache-Control: no-store`', 'GET', '/no-store'],
    ['409', 'GET', '/error'],
  ];

  const rows: string[][] = [];
  for (const [title, method, path, condition] of cases) {
    const responses = apps.map(async (app) => {
      const tag = (await request(app, path)).headers.get('etag') ?? '';
      const headers = condition ? { 'If-None-Match': condition(tag) } : {};
      return request(app, path, { method, headers });
    });
    rows.push([title, ...(await Promise.all(responses)).map(summary)]);
  }

  const head = ['Request or response', '`@fw/middleware/etag`', '`express`', '`hono/etag`'];
  expectSection(`${import.meta.dirname}/../README.md`, 'etag', markdownTable(head, rows));
});

function otherForm(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : `W/${tag}`;
}

function summary({ status, headers }: Response): string {
  const tag = headers.get('etag');
  const kind = tag === null ? 'no tag' : tag.startsWith('W/') ? 'weak tag' : 'strong tag';
  return `${status}, ${kind}`;
}
