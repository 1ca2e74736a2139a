import { createApp, createRouter } from '@fw/core';
import { metadataOf } from '@fw/core/extension';
import { request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { describe, expect, expectTypeOf, test } from 'vitest';

import { type TextOptions, text } from './text.ts';

const TEXT = { 'Content-Type': 'text/plain' };

/** Sends a body to a route that responds with it as JSON. */
function post(
  body: string | Uint8Array | undefined,
  { headers = TEXT, ...options }: TextOptions & { headers?: Record<string, string> } = {},
) {
  const router = createRouter().post('/', text(options), (ctx) => {
    expectTypeOf(ctx.body).toEqualTypeOf<string>();
    ctx.json({ body: ctx.body });
  });
  const app = createApp().use(errorHandler());
  app.route('/', router);
  return request(app, '/', { method: 'POST', headers, ...(body !== undefined && { body }) });
}

describe('a body of text', () => {
  test.each(['20', ' a\r\nb ', 'é😀\u0000\uFFFD', '\uFEFFa', '{"a": 1}'])(
    '%j is read as it is',
    async (body) => {
      expect(await (await post(body)).json()).toEqual({ body });
    },
  );

  test.each(['text/plain; charset=UTF-8', 'text/plain; charset=us-ascii', 'TEXT/PLAIN'])(
    'has the type %s',
    async (type) => {
      expect(await (await post('a', { headers: { 'Content-Type': type } })).json()).toEqual({
        body: 'a',
      });
    },
  );

  test('may have other types instead', async () => {
    const types = ['application/json', 'application/vnd.a_b+json'];
    const headers = { 'Content-Type': 'application/json' };

    expect(await (await post('{"a": 1}', { types, headers })).json()).toEqual({ body: '{"a": 1}' });
    expect((await post('a', { types })).status).toBe(415);
  });

  test.each([
    ['no body', undefined],
    ['an empty body', ''],
  ])('is the empty string for %s', async (_, body) => {
    expect(await (await post(body)).json()).toEqual({ body: '' });
  });

  test('is the empty string for GET', async () => {
    const app = createApp().use(text(), (ctx) => ctx.json({ body: ctx.body }));

    expect(await (await request(app, '/')).json()).toEqual({ body: '' });
  });
});

test.each<readonly [string, string | Uint8Array, object, number, string]>([
  ['that is not UTF-8', Uint8Array.of(0x61, 0xff), {}, 400, 'The body must be UTF-8'],
  [
    'of another type',
    'a',
    { headers: { 'Content-Type': 'text/html' } },
    415,
    'The body must be text in UTF-8: text/plain',
  ],
])('a body %s is rejected', async (_, body, options, status, detail) => {
  const response = await post(body, options);

  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ detail });
});

test.each([
  [[]],
  ['text/plain'],
  [[['text/plain']]],
  [['text']],
  [['Text/plain']],
  [['text/plain; charset=utf-8']],
])('text({ types: %j }) throws at start', (types) => {
  expect(() => text({ types: types as string[] })).toThrow(
    /^Cannot read option types ".*" of text\(\): expected a list of at least one media type, in lower case and without parameters$/,
  );
});

test('the metadata of text contains the accepted media types and the limit', () => {
  expect(metadataOf(text({ types: ['text/csv'], limit: 10 }))).toEqual({
    body: { mediaTypes: ['text/csv'], limit: 10 },
  });
});
