import { createApp, type Middleware } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { describe, expect, test } from 'vitest';
import { type CorsOptions, cors } from './cors.ts';

const ORIGIN = 'https://app.example.com';
const APP = 'capacitor://localhost';
const PREFLIGHT = { Origin: ORIGIN, 'Access-Control-Request-Method': 'PUT' };

function createApiApp(options: CorsOptions, handler: Middleware = (ctx) => ctx.json({})) {
  const app = createApp({ logger: quiet });
  return app.use(cors(options), errorHandler(), handler);
}

async function send(
  options: CorsOptions,
  headers: Record<string, string>,
  { method = 'GET', handler }: { method?: string; handler?: Middleware } = {},
): Promise<Response> {
  return request(createApiApp(options, handler), '/', { method, headers });
}

const allowedBy = (response: Response) => response.headers.get('access-control-allow-origin');

const corsHeadersOf = (response: Response) =>
  [...response.headers.keys()].filter((name) => name.startsWith('access-control'));

describe('origin', () => {
  test.each<readonly [string, CorsOptions, string, string | null]>([
    ['all', {}, ORIGIN, '*'],
    ['one', { origin: ORIGIN }, ORIGIN, ORIGIN],
    ['one', { origin: ORIGIN }, 'https://other.example', null],
    ['a list', { origin: ['https://a.example', ORIGIN] }, ORIGIN, ORIGIN],
    ['a list', { origin: [ORIGIN] }, 'https://app.example.com.evil.example', null],
    ['a list', { origin: [ORIGIN] }, 'null', null],
    ['an app', { origin: APP }, APP, APP],
    ['a function', { origin: (origin) => origin.endsWith('.example.com') }, ORIGIN, ORIGIN],
    ['an async function', { origin: async (origin) => origin === ORIGIN }, ORIGIN, ORIGIN],
    ['an async function', { origin: async () => false }, ORIGIN, null],
    ['a function with another value', { origin: () => 'yes' as never }, ORIGIN, null],
  ])('%s: %j allows %s: %j', async (_, options, origin, allowed) => {
    const response = await send(options, { Origin: origin });

    expect(response.status).toBe(200);
    expect(allowedBy(response)).toBe(allowed);
  });

  test.each<readonly [string, readonly string[]]>([
    [ORIGIN, ['access-control-allow-origin', 'access-control-expose-headers']],
    ['https://other.example', []],
  ])('%s gets only the headers %j', async (origin, expected) => {
    const response = await send({ origin: ORIGIN, exposedHeaders: ['ETag'] }, { Origin: origin });

    expect(corsHeadersOf(response)).toEqual(expected);
  });

  test('a function is not called for a request without Origin', async () => {
    const response = await send({ origin: () => expect.unreachable() }, {});

    expect(response.status).toBe(200);
    expect(allowedBy(response)).toBeNull();
  });

  test('a list sets Vary: Origin on responses without CORS headers too, but not "*"', async () => {
    const response = await send({ origin: [ORIGIN] }, {});

    expect(allowedBy(response)).toBeNull();
    expect(response.headers.get('vary')).toBe('Origin');
    expect((await send({}, { Origin: ORIGIN })).headers.get('vary')).toBeNull();
  });

  test('a function that fails causes a 500 without CORS headers', async () => {
    const origin = async () => Promise.reject(new Error('no database'));

    const app = createApp({ logger: quiet }).use(cors({ origin }));
    const response = await request(app, '/', { headers: { Origin: ORIGIN } });

    expect(response.status).toBe(500);
    expect(allowedBy(response)).toBeNull();
  });
});

describe('preflight', () => {
  test('the response is 204 with what is allowed, and no later middleware runs', async () => {
    const options = {
      origin: ORIGIN,
      credentials: true,
      methods: ['GET', 'PUT'],
      allowedHeaders: ['Content-Type', 'If-Match'],
      maxAgeSeconds: 600,
    };

    const handler: Middleware = () => {
      throw new Error('not reached');
    };
    const response = await send(options, PREFLIGHT, { method: 'OPTIONS', handler });

    expect(response.status).toBe(204);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, PUT',
      'access-control-allow-headers': 'Content-Type, If-Match',
      'access-control-max-age': '600',
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    });
  });

  test('requested headers are allowed by default, except those that are not header names', async () => {
    const headers = { ...PREFLIGHT, 'Access-Control-Request-Headers': 'if-match, a b,,x-é, x-id' };

    const response = await send({}, headers, { method: 'OPTIONS' });

    expect(response.headers.get('access-control-allow-headers')).toBe('if-match, x-id');
    expect(corsHeadersOf(await send({}, PREFLIGHT, { method: 'OPTIONS' }))).toEqual([
      'access-control-allow-methods',
      'access-control-allow-origin',
    ]);
  });

  test('another origin gets 204 without any permission', async () => {
    const headers = { ...PREFLIGHT, Origin: 'https://other.example' };

    const options = { origin: ORIGIN, credentials: true };
    const response = await send(options, headers, { method: 'OPTIONS' });

    expect(response.status).toBe(204);
    expect(corsHeadersOf(response)).toEqual([]);
  });

  test.each([
    [{ privateNetwork: true }, 'true', 'true'],
    [{ privateNetwork: true }, 'false', null],
    [{ privateNetwork: false }, 'true', null],
    [{}, 'true', null],
  ])(
    '%j responds to Access-Control-Request-Private-Network: %s with %j',
    async (options, requested, value) => {
      const headers = { ...PREFLIGHT, 'Access-Control-Request-Private-Network': requested };

      const response = await send(options, headers, { method: 'OPTIONS' });

      expect(response.headers.get('access-control-allow-private-network')).toBe(value);
    },
  );

  test.each<readonly [string, string, Record<string, string>]>([
    ['OPTIONS without Access-Control-Request-Method', 'OPTIONS', { Origin: ORIGIN }],
    ['OPTIONS without Origin', 'OPTIONS', { 'Access-Control-Request-Method': 'PUT' }],
    ['GET with the headers of a preflight request', 'GET', PREFLIGHT],
  ])('%s reaches the handler', async (_, method, headers) => {
    const response = await send({}, headers, { method });

    expect(response.status).toBe(200);
  });
});

test('a problem response has the CORS headers', async () => {
  const options = {
    origin: ORIGIN,
    credentials: true,
    exposedHeaders: ['RateLimit-Reset', 'ETag'],
  };

  const fail = () => Promise.reject(new Error('failed'));
  const response = await send(options, { Origin: ORIGIN }, { handler: fail });

  expect(response.status).toBe(500);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'access-control-allow-origin': ORIGIN,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'RateLimit-Reset, ETag',
    vary: 'Origin',
  });
});

test('a request that cannot be parsed gets the CORS headers of the outermost middleware', async () => {
  const app = createApp({ outermost: cors({ origin: ORIGIN }) });

  const response = await request(app, '/%ZZ', { headers: { Origin: ORIGIN } });

  expect(response.status).toBe(400);
  expect(allowedBy(response)).toBe(ORIGIN);
});
