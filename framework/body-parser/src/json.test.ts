import { setTimeout as sleep } from 'node:timers/promises';

import { createApp } from '@fw/core';
import { metadataOf } from '@fw/core/extension';
import { request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { describe, expect, test } from 'vitest';

import { json } from './json.ts';
import { app, createEcho, JSON_TYPE, post, problemOf } from './testing/echo.ts';

describe('a JSON body', () => {
  test.each([
    '{"a":[1,2.5e3,-1,true,null,"é😀"]}',
    ' {} \r\n\t',
    '{"a\\u0041":"\\ud83d\\ude00"}',
    '{"constructor":{}}',
    '{"prototype":{}}',
    '{"constructor":{"a":{"prototype":1}}}',
    '{"a":{"constructor":{}},"prototype":1}',
    '[{},{"prototype":1},{"constructor":{}}]',
    `{"a":"\\u0041${'x'.repeat(100)}\\"__proto__\\":1"}`,
    '{"\\"__proto__":1,"a\\\\":"__proto__"}',
    '["\\\\u0000","\\\\ud800"]',
    '{"\\u0041":"","__proto__x":1,"\\"005f_proto__":1}',
    '{"a":"\\uFFFD \uFFFD"}',
  ])('%j is parsed', async (text) => {
    expect(await (await post(text)).json()).toEqual({ body: JSON.parse(text) });
  });

  test.each([
    ['no body', { method: 'POST' }],
    ['an empty body without a type', { method: 'POST', body: '' }],
    [
      'an empty chunked body of another type',
      { method: 'POST', headers: { 'Content-Type': 'text/plain', 'Transfer-Encoding': 'chunked' } },
    ],
    [
      'an empty chunked body',
      { method: 'POST', headers: { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' } },
    ],
    ['GET with a body', { method: 'GET', headers: JSON_TYPE, body: '{"a":1}' }],
  ])('is undefined for %s', async (_, init) => {
    const response = await request(app, '/', init);

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ body: 'undefined' });
  });

  test('may begin with a byte order mark', async () => {
    const response = await post('\uFEFF{"a":1}', JSON_TYPE);

    expect(await response.json()).toEqual({ body: { a: 1 } });
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
    ['a byte order mark only', '\uFEFF', 'The body is not valid JSON'],
    ['a number', '1', NOT_STRICT],
    ['null', 'null', NOT_STRICT],
    ['an octet that is no UTF-8', Buffer.from('["\xff"]', 'latin1'), NOT_UTF8],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), 'The body is not valid JSON at position 1'],
    ['a lone surrogate', '{"a":"\\ud800"}', NOT_UNICODE],
    ['a pair of surrogates that is divided', '{"a":"\\ud83dx\\ude00"}', NOT_UNICODE],
    ['NUL', '{"a":"\\u0000"}', HAS_NUL],
    ['__proto__', '{"__proto__":{"isAdmin":true}}', HAS_PROTO],
    ['__proto__ deep down', '[{"a":[{"__proto__":1}]}]', HAS_PROTO],
    ['__proto__ behind a long string', `{"a":"${LONG}","__proto__":1}`, HAS_PROTO],
    ['constructor.prototype', '{"constructor":{"prototype":{"isAdmin":true}}}', HAS_PROTOTYPE],
    [
      '__proto__ in a value that a later one of the same key replaces',
      '{"a":{"__proto__":1},"a":0}',
      HAS_PROTO,
    ],
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
    ['65 objects', `${'{"a":'.repeat(64)}{}${'}'.repeat(64)}`, 400],
    ['20,000 arrays', '['.repeat(20_000) + ']'.repeat(20_000), 400],
    ['20,000 arrays that never end', '['.repeat(20_000), 400],
    ['65 arrays and a long string that never ends', `${'['.repeat(65)}"${'x'.repeat(100)}`, 400],
    ['200 brackets in a string', JSON.stringify({ a: `\\"${'['.repeat(200)}` }), 200],
    ['65 arrays behind a quote that is escaped', `["\\"",${'['.repeat(64)}${']'.repeat(64)}]`, 400],
  ])('of %s', async (_, text, status) => {
    const response = await post(text);

    expect(response.status).toBe(status);
    expect((await response.text()).includes('The body must be nested at most 64 deep')).toBe(
      status === 400,
    );
  });
});

const LIMIT = `a whole number of bytes from 1 to ${Number.MAX_SAFE_INTEGER}`;

test.each<readonly [object, string]>([
  ...[0, 1.5, '1mb'].map(
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
