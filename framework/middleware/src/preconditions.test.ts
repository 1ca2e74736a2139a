import { createApp } from '@fw/core';
import { request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { expect, test } from 'vitest';

import { etagOf, hasIfMatch, requireMatch, sendNotModified } from './preconditions.ts';

/** A resource in state 3: GET reads it, PUT changes it. */
const app = createApp();
app.use(errorHandler());
app.use((ctx) => {
  if (ctx.method === 'PUT') requireMatch(ctx, etagOf(3));
  else if (sendNotModified(ctx, etagOf(3))) return;
  ctx.json({ state: 3 });
});

async function statusOf(method: string, name: string, value?: string): Promise<number> {
  const headers: Record<string, string> = value === undefined ? {} : { [name]: value };
  return (await request(app, '/', { method, headers })).status;
}

test.each([
  [undefined, 200],
  ['*', 200],
  ['"3"', 200],
  ['"1", "3"', 200],
  ['"1" ,"2",W/"3", "3"', 200],
  ['"2"', 412],
  ['W/"3"', 412],
  ['', 412],
  [',', 412],
  [', "3",,', 200],
  ['"1,2", "3"', 200],
  ['"1,"', 412],
  ['3', 400],
  ['"3', 400],
  ['w/"3"', 400],
  ['x"3"', 400],
  ['"3" "4"', 400],
  ['"3", *', 400],
  ['"a b"', 400],
  ['\xa0*', 400],
  ['\t* ', 200],
])('PUT with If-Match %j gets %i', async (value, status) => {
  expect(await statusOf('PUT', 'If-Match', value)).toBe(status);
});

test.each([
  [undefined, 200],
  ['*', 304],
  ['\xa0*', 200],
  ['"3"', 304],
  ['W/"3"', 304],
  ['"2"', 200],
  ['', 200],
  ['"1,2", "3"', 304],
  ['3', 200],
  ['x"3"', 200],
  ['w/"3"', 200],
  ['"3", *', 200],
])('GET with If-None-Match %j gets %i', async (value, status) => {
  expect(await statusOf('GET', 'If-None-Match', value)).toBe(status);
});

test.each([
  ['"2"', 'the resource has changed: If-Match names another state of it'],
  ['x"4"', 'If-Match must be "*" or a list of entity tags'],
])('the problem for If-Match %j names the header', async (value, detail) => {
  const response = await request(app, '/', { method: 'PUT', headers: { 'If-Match': value } });

  expect(await response.json()).toMatchObject({ detail });
});

test('200 and 304 have the entity tag, and 304 has no content', async () => {
  const full = await request(app, '/');
  const short = await request(app, '/', { headers: { 'If-None-Match': '"3"' } });

  expect(full.headers.get('etag')).toBe('"3"');
  expect(short.headers.get('etag')).toBe('"3"');
  expect(short.headers.get('content-type')).toBeNull();
  expect(await short.text()).toBe('');
});

test('a header of 16,000 characters is parsed in linear time', async () => {
  const value = `${'"1",'.repeat(4_000)}x`;

  expect(await statusOf('PUT', 'If-Match', value)).toBe(400);
  expect(await statusOf('PUT', 'If-Match', ', '.repeat(8_000))).toBe(412);
});

test.each([
  [undefined, false],
  ['*', false],
  ['"3"', true],
  [',', true],
])('a change with If-Match %j is conditional: %j', (header, expected) => {
  expect(hasIfMatch({ get: () => header })).toBe(expected);
});
