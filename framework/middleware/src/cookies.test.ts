import { randomBytes } from 'node:crypto';

import { type Context, createApp } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import { describe, expect, test } from 'vitest';
import {
  type CookieOptions,
  createSignedCookies,
  deleteCookie,
  readCookie,
  readCookies,
  setCookie,
} from './cookies.ts';

const createQuietApp = () => createApp({ logger: quiet });

/** The cookies that a request with this `Cookie` header has. */
async function parse(header: string): Promise<unknown> {
  const app = createQuietApp().use((ctx) => ctx.json(readCookies(ctx)));
  return (await request(app, '/', { headers: { Cookie: header } })).json();
}

/** The `Set-Cookie` headers that `add` appends. */
function setBy(add: (ctx: Pick<Context, 'append'>) => void): string[] {
  const headers: string[] = [];
  add({ append: (_name: string, value: string) => headers.push(value) } as never);
  return headers;
}

const set = (name: string, value: string, options?: CookieOptions) =>
  setBy((ctx) => setCookie(ctx, name, value, options));

describe('readCookies', () => {
  test.each([
    ['several cookies', 'a=1; b=2', { a: '1', b: '2' }],
    ['spaces and tabs around names and values', ' a = 1 ;\tb\t=\t2;', { a: '1', b: '2' }],
    ['the first of a repeated name', 'a=1; a=2', { a: '1' }],
    [
      'the cookie after one whose name starts with a no-break space',
      '\xa0a=evil; a=1',
      { '\xa0a': 'evil', a: '1' },
    ],
    ['a quoted value without its quotes', 'a="b c"', { a: 'b c' }],
    ['quotes on one side only unchanged', 'a="b"c; d=e"f"', { a: '"b"c', d: 'e"f"' }],
    ['"=" in a value', 'a=b=c', { a: 'b=c' }],
    ['a percent-encoded value', 'a=%C3%A9%3B', { a: 'é;' }],
    ['a malformed escape unchanged', 'a=100%', { a: '100%' }],
    ['no element without a name', '=1; b; ; c=3', { c: '3' }],
    ['names of object members', 'constructor=1; toString=2', { constructor: '1', toString: '2' }],
  ])('returns %s', async (_, header, expected) => {
    expect(await parse(header)).toEqual(expected);
  });

  test('returns __proto__ as an ordinary name', () => {
    const cookies = readCookies({ get: () => '__proto__=1' });

    expect(Object.entries(cookies)).toEqual([['__proto__', '1']]);
    expect(readCookie({ get: () => 'a=1' }, 'constructor')).toBeUndefined();
  });

  test('reads at most 200 cookies', async () => {
    const header = Array.from({ length: 300 }, (_, at) => `c${at}=1`).join('; ');

    expect(Object.keys((await parse(header)) as object)).toHaveLength(200);
  });
});

describe('setCookie', () => {
  const LONGEST = `/${'x'.repeat(1_023)}`;

  test('sets attributes that prevent access by scripts, over HTTP and from other sites', () => {
    expect(set('a', 'b')).toEqual(['a=b; Path=/; Secure; HttpOnly; SameSite=Lax']);
  });

  test.each<readonly [string, CookieOptions, string]>([
    [
      'a',
      { maxAgeSeconds: 60, domain: 'a.example' },
      'Max-Age=60; Domain=a.example; Path=/; Secure; HttpOnly; SameSite=Lax',
    ],
    ['a', { path: '/x/y', secure: false }, 'Path=/x/y; HttpOnly; SameSite=Lax'],
    ['a', { path: LONGEST, httpOnly: false }, `Path=${LONGEST}; Secure; SameSite=Lax`],
    ['a', { httpOnly: false, sameSite: 'strict' }, 'Path=/; Secure; SameSite=Strict'],
    [
      'a',
      { sameSite: 'none', partitioned: true },
      'Path=/; Secure; HttpOnly; SameSite=None; Partitioned',
    ],
    ['my__Host-a', { path: '/x' }, 'Path=/x; Secure; HttpOnly; SameSite=Lax'],
  ])('%#: writes %s with %j', (name, options, expected) => {
    expect(set(name, 'b', options)).toEqual([`${name}=b; ${expected}`]);
  });

  test('keeps the cookies that were set before, also in an error response', async () => {
    const app = createQuietApp().use((ctx) => {
      setCookie(ctx, 'a', '1');
      setCookie(ctx, 'b', '2');
      ctx.throw(400);
    });

    const { headers } = await request(app, '/');

    expect(headers.getSetCookie()).toHaveLength(2);
  });

  test.each(['b c', 'é;,"\\', '100%', '"quoted"', '😀', '\r\nSet-Cookie: x=1', ''])(
    'a client returns the value %j unchanged',
    async (value) => {
      const [header = ''] = set('a', value);

      expect(header).toMatch(/^[\x20-\x7e]+$/);
      expect(await parse(header.slice(0, header.indexOf(';')))).toEqual({ a: value });
    },
  );

  test('deleteCookie sets an empty value that expires at once', () => {
    expect(setBy((ctx) => deleteCookie(ctx, 'a', { path: '/x' }))).toEqual([
      'a=; Max-Age=0; Path=/x; Secure; HttpOnly; SameSite=Lax',
    ]);
  });

  test('rejects a name and value of more than 4,096 bytes', () => {
    expect(set('a', 'x'.repeat(4_094))).toHaveLength(1);
    expect(() => set('a', 'x'.repeat(4_095))).toThrow(
      'Cannot set cookie "a" of 4097 bytes: expected at most 4096',
    );
  });
});

describe('signed cookies', () => {
  const secret = randomBytes(16).toString('hex'); // as short as possible
  const other = randomBytes(32).toString('hex');

  /** The name and value that a client returns after `set`. */
  function sign(secrets: readonly string[], name: string, value: string): string {
    const [header = ''] = setBy((ctx) => createSignedCookies(secrets).set(ctx, name, value));
    return header.slice(0, header.indexOf(';'));
  }
  const read = (secrets: readonly string[], name: string, header: string) =>
    createSignedCookies(secrets).read({ get: () => header }, name);

  test.each(['7', '', 'a.b', 'é ;', '"x"'])('returns the value %j', (value) => {
    expect(read([secret], 'user', sign([secret], 'user', value))).toBe(value);
  });

  test('rejects a changed value, a changed signature and the signature of another cookie', () => {
    const cookie = sign([secret], 'user', '7');

    expect(read([secret], 'user', cookie.replace('=7.', '=8.'))).toBeUndefined();
    expect(read([secret], 'user', `${cookie}A`)).toBeUndefined();
    expect(read([secret], 'user', cookie.slice(0, -1))).toBeUndefined();
    expect(read([secret], 'admin', cookie.replace('user', 'admin'))).toBeUndefined();
    expect(read([other], 'user', cookie)).toBeUndefined();
    expect(read([secret], 'user', 'user=7')).toBeUndefined();
    expect(read([secret], 'user', '')).toBeUndefined();
  });

  test('the first secret signs and every secret verifies', () => {
    const old = sign([secret], 'user', '7');
    const current = sign([other, secret], 'user', '7');

    expect(read([other, secret], 'user', old)).toBe('7');
    expect(read([other], 'user', current)).toBe('7');
    expect(read([secret], 'user', current)).toBeUndefined();
  });
});
