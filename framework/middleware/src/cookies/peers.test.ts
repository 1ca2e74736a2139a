import { join } from 'node:path';

import fastifyCookie from '@fastify/cookie';
import { createApp } from '@fw/core';
import { request } from '@fw/core/testing';
import { parseCookie, stringifySetCookie } from 'cookie';
import fastify from 'fastify';
import { Hono } from 'hono';
import * as hono from 'hono/cookie';
import { expect, test } from 'vitest';

import { expectSection, markdownTable } from '../../../../deploy/local/testing/markdown.ts';
import { type CookieOptions, readCookies, setCookie } from './cookies.ts';

const README = join(import.meta.dirname, '../../README.md');
const code = (value: unknown) => `\`${JSON.stringify(value)}\``;

/** What each implementation reads from the header `Cookie`, as `[name, value]` pairs. */
const READERS: Readonly<Record<string, (header: string) => Promise<unknown>>> = {
  fw: async (header) => {
    const app = createApp().use((ctx) => ctx.json(Object.entries(readCookies(ctx))));
    return (await request(app, '/', { headers: { Cookie: header } })).json();
  },
  cookie: async (header) => Object.entries(parseCookie(header)),
  '@fastify/cookie': async (header) => {
    const app = fastify().register(fastifyCookie);
    app.get('/', (req) => Object.entries(req.cookies));
    return (await app.inject({ url: '/', headers: { cookie: header } })).json();
  },
  'hono/cookie': async (header) => {
    const app = new Hono().get('/', (c) => c.json(Object.entries(hono.getCookie(c))));
    return (await app.request('/', { headers: { Cookie: header } })).json();
  },
};

test('the README compares what implementations read from the same header', async () => {
  const headers = ['a=1; b=%C3%A9', 'a=1; a=2', 'a="b c"', 'a=100%', 'a', '__proto__=1'];
  const rows = await Promise.all(
    headers.map(async (header) => [
      `\`${header}\``,
      ...(await Promise.all(Object.values(READERS).map(async (read) => code(await read(header))))),
    ]),
  );

  expectSection(README, 'cookies-read', markdownTable(['`Cookie`', ...Object.keys(READERS)], rows));
});

/** The `Set-Cookie` header, or "throws". */
type Writer = (name: string, value: string, options: CookieOptions) => Promise<unknown>;

/** The same attributes in the spelling of the other packages. */
function inSeconds({ maxAgeSeconds, ...options }: CookieOptions) {
  return { ...options, ...(maxAgeSeconds !== undefined && { maxAge: maxAgeSeconds }) };
}

const capitalized = { strict: 'Strict', lax: 'Lax', none: 'None' } as const;

const WRITERS: Readonly<Record<string, Writer>> = {
  fw: async (name, value, options) => {
    const written: string[] = [];
    const ctx = { append: (_: string, header: string) => written.push(header) };
    setCookie(ctx as never, name, value, options);
    return written[0];
  },
  cookie: async (name, value, options) =>
    stringifySetCookie({ name, value, ...inSeconds(options) }),
  '@fastify/cookie': async (name, value, options) => {
    const app = fastify().register(fastifyCookie);
    app.get('/', (_, reply) => reply.setCookie(name, value, inSeconds(options)).send());
    const response = await app.inject('/');
    if (response.statusCode >= 500) throw new Error(response.payload);
    return response.headers['set-cookie'];
  },
  'hono/cookie': async (name, value, { sameSite, ...options }) => {
    const app = new Hono().get('/', (c) => {
      hono.setCookie(c, name, value, {
        ...inSeconds(options),
        ...(sameSite && { sameSite: capitalized[sameSite] }),
      } as never);
      return c.body(null);
    });
    app.onError((error) => {
      throw error;
    });
    return (await app.request('/')).headers.get('set-cookie');
  },
};

test('the README compares the Set-Cookie headers of implementations', async () => {
  const cases: readonly (readonly [string, string, CookieOptions])[] = [
    ['a', 'b c', {}],
    ['a', 'b', { sameSite: 'none', secure: false }],
    ['a', 'b', { maxAgeSeconds: 40_000_000 }],
    ['__Host-a', 'b', { secure: true, domain: 'a.example' }],
    ['a', 'x'.repeat(5_000), {}],
  ];
  const rows = await Promise.all(
    cases.map(async ([name, value, options]) => [
      `\`${name}=${value.slice(0, 10)}${value.length > 10 ? '…' : ''}\` ${code(options)}`,
      ...(await Promise.all(
        Object.values(WRITERS).map((write) =>
          write(name, value, options).then(
            (header) => `\`${String(header).replace(/(x{10})x+/, '$1…')}\``,
            () => 'throws',
          ),
        ),
      )),
    ]),
  );

  expect(rows.slice(1).map(([, fw]) => fw)).toEqual(rows.slice(1).map(() => 'throws'));
  expectSection(README, 'cookies-set', markdownTable(['Cookie', ...Object.keys(WRITERS)], rows));
});
