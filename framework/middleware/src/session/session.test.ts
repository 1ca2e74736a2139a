import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createApp, createRouter, type Middleware } from '@fw/core';
import { recordLog, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { timeout } from '../timeout.ts';
import { type Session, type SessionOptions, session } from './session.ts';

interface Data {
  readonly userId: string;
  readonly note?: string;
}

const SECRET = randomBytes(32).toString('base64');
const START_MS = Date.parse('2026-12-01T00:00:00Z');
const HOUR_MS = 3_600_000;

/** An application with sessions, and a browser that keeps its cookie. */
function newBrowser(options: Partial<SessionOptions> = {}, jar = { cookie: '' }) {
  const clock = { ms: START_MS };
  const { logger, entries, errors } = recordLog();
  const sessions = session<Data>({ secrets: [SECRET], now: () => new Date(clock.ms), ...options });
  const router = createRouter().group('/', sessions, (group) => {
    group.get('/me', (ctx) => {
      ctx.set('Cache-Control', 'public, max-age=60');
      return ctx.state.session.data ?? { userId: null };
    });
    group.post('/login/:id', (ctx) => ctx.state.session.set({ userId: ctx.params.id }));
    group.post('/note/:length', (ctx) => {
      const { userId } = ctx.state.session.data ?? ctx.throw(401);
      ctx.state.session.set({ userId, note: 'x'.repeat(Number(ctx.params.length)) });
    });
    group.post('/fail', (ctx) => {
      ctx.state.session.set({ userId: 'ada' });
      ctx.throw(409);
    });
    group.post('/logout', (ctx) => ctx.state.session.end());
    group.post('/log', (ctx) => ctx.log.info('sold'));
    group.post('/switch', ({ state }) => {
      state.session.end();
      state.session.set({ userId: 'grace' });
    });
  });
  const app = createApp({ logger }).use(errorHandler());
  app.route('/', router);

  const send = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const cookies = jar.cookie === '' ? {} : { Cookie: jar.cookie };
    const response = await request(app, path, { method, headers: { ...cookies, ...headers } });
    const [cookie] = response.headers.getSetCookie();
    if (cookie !== undefined) jar.cookie = cookie.slice(0, cookie.indexOf(';'));
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return {
    jar,
    clock,
    entries,
    errors,
    send,
    login: (id = 'ada') => send('POST', `/login/${id}`),
    user: async () => JSON.parse((await send('GET', '/me')).text).userId,
  };
}

test('lines of a request have the id of the user that the data of its session contain', async () => {
  const { login, send, entries } = newBrowser();
  await send('POST', '/log');
  await login();

  await send('POST', '/log');

  expect(entries.map(({ fields }) => fields?.userId)).toEqual([undefined, 'ada']);
});

test('a browser keeps its session in a cookie that only this host can set and read', async () => {
  const { login, user, send } = newBrowser();
  expect(await user()).toBeNull();

  const { headers } = await login();
  const read = await send('GET', '/me');

  expect(headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^__Host-session=[\w-]+; Max-Age=86400; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    ),
  ]);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(JSON.parse(read.text)).toEqual({ userId: 'ada' });
  expect(read.headers.getSetCookie()).toEqual([]);
  expect(read.headers.get('cache-control')).toBe('public, max-age=60');
  expect(read.headers.get('vary')).toBe('Cookie');
});

test('the cookie does not show the data, and differs each time', async () => {
  const { jar, login } = newBrowser();
  await login('a-visible-id');
  const first = jar.cookie;

  await login('a-visible-id');

  expect(jar.cookie).not.toBe(first);
  const [, value = ''] = first.split('=');
  expect(Buffer.from(value, 'base64url').toString('latin1')).not.toContain('visible');
});

test('end() deletes the cookie; set() after it begins another session', async () => {
  const { login, send, user, clock } = newBrowser({ lifetimeSeconds: 7_200 });
  await login();

  const { headers } = await send('POST', '/logout');

  expect(headers.getSetCookie()).toEqual([
    '__Host-session=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Lax',
  ]);
  expect(await user()).toBeNull();
  await login();
  clock.ms += HOUR_MS;
  await send('POST', '/switch');
  clock.ms += 1.5 * HOUR_MS;
  expect(await user()).toBe('grace');
});

test('a route may have the guard twice, of which only the last state is sent', async () => {
  const clock = { ms: START_MS };
  const sessions = session<Data>({ secrets: [SECRET], now: () => new Date(clock.ms) });
  const router = createRouter()
    .use(sessions)
    .post('/login', sessions, (ctx) => ctx.state.session.set({ userId: 'ada' }))
    .post('/logout', sessions, (ctx) => ctx.state.session.end());
  const app = createApp();
  app.route('/', router);
  const [set = ''] = (await request(app, '/login', { method: 'POST' })).headers.getSetCookie();

  clock.ms += 20 * HOUR_MS; // the outer guard would renew the session
  const headers = { Cookie: set.slice(0, set.indexOf(';')) };
  const logout = await request(app, '/logout', { method: 'POST', headers });

  expect(logout.headers.getSetCookie()).toEqual([
    expect.stringContaining('__Host-session=; Max-Age=0;'),
  ]);
});

test('a session is stored when the handler fails', async () => {
  const { send, user } = newBrowser();

  expect((await send('POST', '/fail')).status).toBe(409);
  expect(await user()).toBe('ada');
});

test('data that does not fit a cookie gets 500 with the reason in the log', async () => {
  const { login, send, user, errors } = newBrowser();
  await login();

  const fits = await send('POST', '/note/2900');
  const tooLong = await send('POST', '/note/3000');

  expect([fits.status, tooLong.status]).toEqual([204, 500]);
  expect(tooLong.text).not.toContain('xxx');
  expect(String(errors)).toMatch(/Cannot set cookie "__Host-session" of 4\d+ bytes/);
  expect(await user()).toBe('ada');
});

describe('time', () => {
  test('the cookie is renewed in the second half of maxAgeSeconds, not before', async () => {
    const { login, send, user, clock } = newBrowser({ maxAgeSeconds: 3_600 });
    await login();

    clock.ms += HOUR_MS / 2 - 1;
    const early = await send('GET', '/me');
    clock.ms += 1;
    const late = await send('GET', '/me');
    clock.ms += HOUR_MS - 1;

    expect(early.headers.getSetCookie()).toEqual([]);
    expect(late.headers.getSetCookie()).toHaveLength(1);
    expect(late.headers.get('cache-control')).toBe('no-store');
    expect(await user()).toBe('ada');
  });

  test('a renewed session and one with new data end lifetimeSeconds after the login', async () => {
    const { login, send, user, clock } = newBrowser({
      maxAgeSeconds: 3_600,
      lifetimeSeconds: 9_000,
    });
    await login();
    for (const path of ['/note/1', '/note/2', '/note/3']) {
      clock.ms += 0.6 * HOUR_MS;
      const { headers } = await send('POST', path);
      expect(headers.getSetCookie()).toHaveLength(1);
    }

    clock.ms = START_MS + 9_000_000 - 1;
    const last = await send('GET', '/me');
    clock.ms += 1;

    expect(last.headers.getSetCookie()[0]).toContain('Max-Age=1;');
    expect(await user()).toBeNull();
  });
});

test('a new first secret keeps sessions and renews their cookies; a removed one ends them', async () => {
  const other = randomBytes(32).toString('base64');
  const before = newBrowser();
  await before.login();
  const old = before.jar.cookie;

  const during = newBrowser({ secrets: [other, SECRET] }, before.jar);
  const { headers } = await during.send('GET', '/me');
  const after = newBrowser({ secrets: [other] }, during.jar);

  expect(headers.getSetCookie()).toHaveLength(1);
  expect(await after.user()).toBe('ada');
  expect(await newBrowser({ secrets: [other] }, { cookie: old }).user()).toBeNull();
});

describe('requests of other origins', () => {
  const ORIGIN = 'https://app.example.com';

  test.each<[string, Record<string, string>, number]>([
    ['a page of this origin', { 'Sec-Fetch-Site': 'same-origin', Origin: 'http://localhost' }, 204],
    ['the address bar', { 'Sec-Fetch-Site': 'none' }, 204],
    ['a program', {}, 204],
    ['an old browser on this origin', { Origin: 'http://localhost' }, 204],
    ['a trusted origin', { 'Sec-Fetch-Site': 'same-site', Origin: ORIGIN }, 204],
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['a subdomain', { 'Sec-Fetch-Site': 'same-site', Origin: 'https://x.example.com' }, 403],
    ['a subdomain without Origin', { 'Sec-Fetch-Site': 'same-site' }, 403],
    [
      'another site with this Origin',
      { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://localhost' },
      403,
    ],
    ['an unknown Sec-Fetch-Site', { 'Sec-Fetch-Site': 'same-origin, none' }, 403],
    ['an old browser on another site', { Origin: 'https://evil.example' }, 403],
  ])('a POST of %s', async (_, headers, status) => {
    const { send, jar } = newBrowser({ trustedOrigins: [ORIGIN] });

    const response = await send('POST', '/login/ada', headers);

    expect(response.status).toBe(status);
    expect(jar.cookie !== '').toBe(status === 204);
    if (status === 403) {
      expect(JSON.parse(response.text)).toMatchObject({ code: 'CROSS_ORIGIN_REQUEST' });
    }
  });

  test('a link from another site may read', async () => {
    const { send } = newBrowser();

    expect((await send('GET', '/me', { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(200);
  });
});

test('handlers have the type of the data, and routes describe the cookie', () => {
  const sessions = session<Data>({ secrets: [SECRET], name: '__Host-id' });
  const router = createRouter().get('/', sessions, (ctx) => {
    expectTypeOf(ctx.state.session.data).toEqualTypeOf<Readonly<Data> | undefined>();
  });

  expect(router.getRoutes()[0]?.metadata).toMatchObject({
    security: [{ session: [] }, {}],
    securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: '__Host-id' } },
  });
});

test('a response behind session() is private and varies by the cookie, also without a session', async () => {
  const app = createApp().use(errorHandler(), session({ secrets: [SECRET] }) as Middleware);
  app.get('/me', () => ({ userId: null }));
  app.get('/languages', (ctx) => ctx.append('Vary', 'Accept-Language').json([]));

  const me = await request(app, '/me');
  const languages = await request(app, '/languages');
  const missing = await request(app, '/missing');

  expect(me.headers.get('cache-control')).toBe('private');
  expect(me.headers.get('vary')).toBe('Cookie');
  expect(languages.headers.get('vary')).toBe('Cookie, Accept-Language');
  expect(missing.headers.get('vary')).toBe('Cookie');
});

test('a session that changes after a time limit has responded causes no warning', async () => {
  const { logger, problems } = recordLog();
  const ended = Promise.withResolvers<void>();
  const app = createApp({ logger }).use(
    timeout(20),
    (_, next) => Promise.resolve(next()).finally(ended.resolve),
    session({ secrets: [SECRET] }),
    async (ctx) => {
      await once(ctx.raw.res, 'close');
      (ctx.state.session as Session<object>).set({});
    },
  );

  const response = await request(app, '/');
  await ended.promise;

  expect(response.status).toBe(503);
  expect(problems.filter((line) => line.startsWith('warn:'))).toEqual([]);
});
