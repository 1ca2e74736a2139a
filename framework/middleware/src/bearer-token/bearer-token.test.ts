import { generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createApp, createRouter, type Middleware } from '@fw/core';
import { quiet, recordLog, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { rateLimit } from '@fw/rate-limit';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { expect, expectTypeOf, test } from 'vitest';
import { startHttpServer } from '../testing/http-server.ts';
import { AUDIENCE, claimsOf, ISSUER, publicKeyOf, SECRET, sign } from '../testing/tokens.ts';
import { type BearerTokenOptions, bearerToken, type TokenUser } from './bearer-token.ts';

type Options = Partial<BearerTokenOptions<{ readonly id: string }>>;

/** Sends requests with a bearer token to an application that returns the user. */
function newApi(options: Options = { secret: SECRET }) {
  const app = createApp({ logger: quiet });
  app.use(errorHandler());
  app.use(bearerToken({ issuer: ISSUER, audience: AUDIENCE, ...options }));
  app.use((ctx) => ctx.json(ctx.state.user));
  return (token: string) => request(app, '/', { headers: { Authorization: `Bearer ${token}` } });
}

/** Serves `keys`, which a test may change, and counts the requests. */
async function serveKeys(respond?: RequestListener) {
  const served = { keys: [] as JWK[], readings: 0 };
  const { url } = await startHttpServer((req, res) => {
    served.readings++;
    if (respond) return respond(req, res);
    res.setHeader('content-type', 'application/jwk-set+json');
    res.end(JSON.stringify({ keys: served.keys }));
  });
  return { served, jwksUrl: `${url}/keys` };
}

async function newKey(alg: string, kid: string) {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid } };
}

const seconds = () => Math.floor(Date.now() / 1000);

test('a valid token sets the user, with the scopes of the claim "scope" or "scp"', async () => {
  const api = newApi();
  const userOf = async (claims: object) => (await api(await sign(claimsOf({ ...claims })))).json();

  expect(await userOf({})).toEqual({ id: 'ada', scopes: [] });
  expect(await userOf({ scope: 'read  write' })).toEqual({ id: 'ada', scopes: ['read', 'write'] });
  expect(await userOf({ scp: ['read', 7] })).toEqual({ id: 'ada', scopes: ['read'] });
  expect(await userOf({ scope: 7 })).toEqual({ id: 'ada', scopes: [] });
});

test('lines of a request with a token have the id of its user', async () => {
  const { logger, entries } = recordLog();
  const app = createApp({ logger });
  app.use(bearerToken({ issuer: ISSUER, audience: AUDIENCE, secret: SECRET }), (ctx) => {
    ctx.log.info('sold');
    ctx.send('done');
  });

  await request(app, '/', { headers: { Authorization: `Bearer ${await sign(claimsOf())}` } });

  expect(entries).toMatchObject([{ message: 'sold', fields: { userId: 'ada' } }]);
});

test.each([
  ['for several audiences', { aud: ['users', AUDIENCE] }],
  ['whose user id contains punctuation', { sub: 'CN=Ada Lovelace, O="Example, Inc."' }],
  ['whose user id has 255 characters', { sub: 'a'.repeat(255) }],
])('a token %s is valid', async (_, changes) => {
  expect((await newApi()(await sign(claimsOf(changes)))).status).toBe(200);
});

test.each([
  [undefined, 'Bearer'],
  ['', 'Bearer error="invalid_token", error_description="the bearer token is not valid"'],
  ['Basic YTpi', 'Bearer error="invalid_token", error_description="the bearer token is not valid"'],
])('a request with Authorization %j gets 401 with the challenge %s', async (header, challenge) => {
  const app = createApp();
  app.use(errorHandler(), bearerToken({ secret: SECRET, issuer: ISSUER, audience: AUDIENCE }));

  const response = await request(app, '/?access_token=x', {
    headers: header === undefined ? {} : { Authorization: header },
  });

  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toBe(challenge);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toMatchObject({ code: 'UNAUTHORIZED' });
});

test('only a correctly signed token gets the reason that it has expired', async () => {
  const expired = claimsOf({ exp: seconds() - 60 });
  const otherKey = new TextEncoder().encode('another secret of at least 32 bytes');

  const ours = await newApi()(await sign(expired));
  const forged = await newApi()(await sign(expired, { key: otherKey }));

  expect(await ours.json()).toMatchObject({ detail: 'the bearer token has expired' });
  expect(await forged.json()).toMatchObject({ detail: 'the bearer token is not valid' });
});

test('a token is valid until 5 s after exp, and from 5 s before nbf', async () => {
  const nowMs = Date.now();
  const api = newApi({ secret: SECRET, now: () => new Date(nowMs) });
  const statusOf = async (changes: object) =>
    (await api(await sign(claimsOf({ ...changes })))).status;
  const now = Math.floor(nowMs / 1000);

  expect(await statusOf({ exp: now - 4 })).toBe(200);
  expect(await statusOf({ exp: now - 5 })).toBe(401);
  expect(await statusOf({ nbf: now + 5 })).toBe(200);
  expect(await statusOf({ nbf: now + 6 })).toBe(401);
});

test('a token without all scopes gets 403 that names the scopes', async () => {
  const api = newApi({ secret: SECRET, scopes: ['notes:read', 'notes:write'] });

  const response = await api(await sign(claimsOf({ scope: 'notes:read notes:writer' })));
  const allowed = await api(await sign(claimsOf({ scope: 'notes:write admin notes:read' })));

  expect(response.status).toBe(403);
  expect(response.headers.get('www-authenticate')).toBe(
    'Bearer error="insufficient_scope", scope="notes:read notes:write"',
  );
  expect(await response.json()).toMatchObject({
    code: 'INSUFFICIENT_SCOPE',
    detail: 'the bearer token lacks the scope notes:write',
  });
  expect(allowed.status).toBe(200);
});

test('the option user determines the user and rejects tokens', async () => {
  const revoked = new Set(['eve']);
  const user = async ({ sub, tier }: { readonly sub: string; readonly tier?: unknown }) =>
    revoked.has(sub) ? undefined : { id: sub, isPro: tier === 'pro' };
  const guard = bearerToken({ secret: SECRET, issuer: ISSUER, audience: AUDIENCE, user });
  createRouter()
    .get('/', guard, (ctx) => expectTypeOf(ctx.state.user.isPro).toEqualTypeOf<boolean>())
    .get('/default', bearerToken({ secret: SECRET, issuer: ISSUER, audience: AUDIENCE }), (ctx) =>
      expectTypeOf(ctx.state.user).toEqualTypeOf<TokenUser>(),
    );
  const api = newApi({ secret: SECRET, user });
  const missing = newApi({ secret: SECRET, user: () => null as never });

  expect(await (await api(await sign())).json()).toEqual({ id: 'ada', isPro: true });
  expect((await api(await sign(claimsOf({ sub: 'eve' })))).status).toBe(401);
  expect((await missing(await sign())).status).toBe(401);
});

test('after 30 invalid tokens a client gets 429 before its tokens are verified', async () => {
  let verified = 0;
  const now = () => {
    verified++;
    return new Date();
  };
  const app = createApp({ trustProxy: 1, logger: quiet });
  const guard = bearerToken({ secret: SECRET, issuer: ISSUER, audience: AUDIENCE, now });
  app.use(errorHandler(), guard);
  app.use((ctx) => ctx.send('passed'));
  const token = await sign();
  const send = async (ip: string, Authorization?: string) => {
    const headers = { 'X-Forwarded-For': ip, ...(Authorization && { Authorization }) };
    return (await request(app, '/', { headers })).status;
  };
  for (let count = 0; count < 40; count++) {
    expect(await send('192.0.2.1', `Bearer ${token}`)).toBe(200);
    expect(await send('192.0.2.1')).toBe(401);
  }

  const statuses = await Promise.all(
    Array.from({ length: 100 }, () => send('192.0.2.1', 'Bearer invalid')),
  );
  verified = 0;

  expect(statuses.filter((status) => status === 401)).toHaveLength(30);
  expect(await send('192.0.2.1', `Bearer ${token}`)).toBe(429);
  expect(verified).toBe(0);
  expect(await send('192.0.2.2', `Bearer ${token}`)).toBe(200);
});

test('a limiter that sends its own response ends the request', async () => {
  const failureLimiter: Middleware = (ctx) => ctx.send('slow down');
  const app = createApp();
  app.use(bearerToken({ secret: SECRET, issuer: ISSUER, audience: AUDIENCE, failureLimiter }));
  app.use(() => expect.unreachable());

  expect(await (await request(app, '/')).text()).toBe('slow down');
});

test.each(['RS256', 'ES256', 'EdDSA'] as const)(
  'a token signed with a %s key from the URL is valid, and the keys are read once',
  async (alg) => {
    const { jwksUrl, served } = await serveKeys();
    const { privateKey, jwk } = await newKey(alg, 'first');
    served.keys = [jwk];
    const api = newApi({ jwksUrl, algorithms: [alg] });

    const named = await sign(claimsOf(), { alg, key: privateKey, kid: 'first' });
    const nameless = await sign(claimsOf(), { alg, key: privateKey });
    const responses = await Promise.all([named, nameless, named].map(api));

    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(served.readings).toBe(1);
  },
);

test.each(['as PEM', 'as a key object'])('a public key %s verifies tokens', async (form) => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const api = newApi({ publicKey: form === 'as PEM' ? pem : publicKey });
  const other = await newKey('ES256', 'other');
  const signWith = (key: typeof other.privateKey) => sign(claimsOf(), { alg: 'ES256', key });

  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const ours = await signWith(privateKey.toCryptoKey(algorithm, false, ['sign']));
  expect((await api(ours)).status).toBe(200);
  expect((await api(await signWith(other.privateKey))).status).toBe(401);
});

test.each<[string, RequestListener]>([
  ['responds 500', (_, res) => res.writeHead(500).end()],
  ['redirects', (_, res) => res.writeHead(302, { location: 'http://127.0.0.1:1' }).end()],
  ['sends no keys', (_, res) => res.end('{}')],
  ['closes the connection', (req) => req.socket.destroy()],
  ['does not respond', () => {}],
  ['never ends the response', (_, res) => void res.write('{"keys":[')],
  ['sends too much', (_, res) => res.end(`{"keys":[],"x":"${'x'.repeat(300_000)}"}`)],
])('if the URL of the keys %s, the response is 503 with Retry-After', async (_, respond) => {
  const { jwksUrl } = await serveKeys(respond);
  const { privateKey } = await newKey('ES256', 'first');
  const token = await sign(claimsOf(), { alg: 'ES256', key: privateKey, kid: 'first' });

  const response = await newApi({ jwksUrl })(token);

  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(response.headers.get('www-authenticate')).toBeNull();
  expect(await response.text()).not.toContain('127.0.0.1');
});

test('routes describe the security scheme, the scopes and the limit of failures', () => {
  const options = { issuer: ISSUER, audience: AUDIENCE, scopes: ['notes:read'] };
  const router = createRouter();
  router.use(rateLimit({ name: 'all' }), bearerToken({ ...options, jwksUrl: 'https://a.example' }));
  router.get('/', () => 'passed');

  expect(router.getRoutes()[0]?.metadata).toMatchObject({
    security: [{ bearer: ['notes:read'] }],
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    responses: { 403: {}, 503: {} },
    rateLimit: [
      { policies: [{ name: 'all' }] },
      { policies: [{ name: 'failed-authentication', limit: 30, windowSeconds: 60 }] },
    ],
  });
});

test.each([
  ['rsa', ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']],
  ['P-256', ['ES256']],
  ['P-384', ['ES384']],
  ['P-521', ['ES512']],
  ['ed25519', ['EdDSA']],
] as const)('a public key of the type %s may be used for %j', (type, names) => {
  const publicKey = publicKeyOf(type);

  for (const name of names) {
    const options = { publicKey, algorithms: [name], issuer: ISSUER, audience: AUDIENCE };
    expect(() => bearerToken(options)).not.toThrow();
  }
});
