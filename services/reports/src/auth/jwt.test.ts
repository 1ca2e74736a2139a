import { generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';

import { request } from '@fw/core/testing';
import fc from 'fast-check';
import { createApp, errorHandler } from 'fw';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { expect, test } from 'vitest';
import { startHttpServer } from '../testing/http-server.ts';
import { AUDIENCE, claimsOf, encode, forge, ISSUER, SECRET, sign } from '../testing/tokens.ts';
import { createJwtVerifier, PUBLIC_KEY_ALGORITHMS, type TokenKeys } from './jwt.ts';
import { requireAuth } from './require-auth.ts';

/** Sends a request with a bearer token to an application that verifies tokens with `keys`. */
function newGuard(keys: TokenKeys = { secret: SECRET }) {
  const app = createApp({ logger: { info() {}, warn() {}, error() {} } });
  app.use(errorHandler());
  app.use(requireAuth(createJwtVerifier({ keys, issuer: ISSUER, audience: AUDIENCE })));
  app.use((ctx) => ctx.json(ctx.state.user));
  return (token: string) => request(app, '/', { headers: { Authorization: `Bearer ${token}` } });
}

/** Serves `keys`, which a test may change, and counts the requests. */
async function serveKeys(respond?: RequestListener) {
  const served = { keys: [] as JWK[], readings: 0 };
  const server = await startHttpServer((req, res) => {
    served.readings++;
    if (respond) return respond(req, res);
    res.setHeader('content-type', 'application/jwk-set+json');
    res.end(JSON.stringify({ keys: served.keys }));
  });
  return { ...server, served, jwksUrl: new URL('/keys', server.url) };
}

async function newKey(alg: string, kid: string) {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid } };
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}

test('a token signed with the secret authenticates its user with the claimed tier', async () => {
  const response = await newGuard()(await sign());

  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ id: 'ada', tier: 'pro' });
});

test.each([undefined, 'free', 'gold', '__proto__', 7, null, ['pro']])(
  'a token that claims the tier %j has the free tier',
  async (tier) => {
    const response = await newGuard()(await sign(claimsOf({ tier })));

    expect(await response.json()).toEqual({ id: 'ada', tier: 'free' });
  },
);

test.each([
  ['for several audiences', { aud: ['users', AUDIENCE] }],
  ['that expired within the clock tolerance', { exp: now() - 2 }],
  ['that becomes valid within the clock tolerance', { nbf: now() + 3 }],
  ['whose user id contains punctuation', { sub: 'auth0|ada@example.org' }],
])('a token %s is valid', async (_, changes) => {
  expect((await newGuard()(await sign(claimsOf(changes)))).status).toBe(200);
});

const PAYLOAD = encode(claimsOf());
const HS256 = encode({ alg: 'HS256' });
const otherKey = new TextEncoder().encode('another secret of at least 32 bytes');

test.each<[string, string | Promise<string>]>([
  ['no exp', sign(claimsOf({ exp: undefined }))],
  ['a string as exp', sign(claimsOf({ exp: '9999999999' }))],
  ['exp in the past', sign(claimsOf({ exp: now() - 60 }))],
  ['nbf in the future', sign(claimsOf({ nbf: now() + 60 }))],
  ['another audience', sign(claimsOf({ aud: 'users' }))],
  ['no audience', sign(claimsOf({ aud: undefined }))],
  ['another issuer', sign(claimsOf({ iss: 'https://issuer.example.evil' }))],
  ['no issuer', sign(claimsOf({ iss: undefined }))],
  ['no sub', sign(claimsOf({ sub: undefined }))],
  ['an empty sub', sign(claimsOf({ sub: '' }))],
  ['a sub that is too long', sign(claimsOf({ sub: 'a'.repeat(129) }))],
  ['a sub with a line break', sign(claimsOf({ sub: 'ada\nroot' }))],
  ['a number as sub', sign(claimsOf({ sub: 7 }))],
  ['another secret', sign(claimsOf(), { key: otherKey })],
  ['HS512', sign(claimsOf(), { alg: 'HS512', key: new Uint8Array(64).fill(7) })],
  ['alg none', `${encode({ alg: 'none' })}.${PAYLOAD}.`],
  ['no alg', forge({})],
  ['alg HS512 and the signature of HS256', forge({ alg: 'HS512' })],
  ['a header that is not an object', forge([])],
  ['an unknown crit', forge({ alg: 'HS256', crit: ['x'], x: 1 })],
  ['a payload that is not encoded', forge({ alg: 'HS256', crit: ['b64'], b64: false })],
  ['a payload that is not an object', forge({ alg: 'HS256' }, [claimsOf()])],
  ['no signature', `${HS256}.${PAYLOAD}.`],
  ['two parts', `${HS256}.${PAYLOAD}`],
  ['text', 'ada'],
  ['too many characters', `${HS256}.${'A'.repeat(12_000)}.AAAA`],
])('a token with %s gets 401 and a WWW-Authenticate challenge', async (_, token) => {
  const response = await newGuard()(await token);

  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toMatchObject({ code: 'UNAUTHORIZED' });
});

test('only a correctly signed token gets the reason that it has expired', async () => {
  const expired = claimsOf({ exp: now() - 60 });

  const ours = await newGuard()(await sign(expired));
  const forged = await newGuard()(await sign(expired, { key: otherKey }));

  expect(await ours.json()).toMatchObject({ detail: 'the bearer token has expired' });
  expect(await forged.json()).toMatchObject({ detail: 'the bearer token is not valid' });
});

test('a token with any changed character gets 401', async () => {
  const token = await sign();
  const guard = newGuard();
  // Without the last character: it contains unused bits.
  const change = fc.tuple(fc.nat(token.length - 2), fc.constantFrom(...'AZaz09-_.'));

  await fc.assert(
    fc.asyncProperty(change, async ([at, character]) => {
      fc.pre(token[at] !== character);
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      expect((await guard(changed)).status).toBe(401);
    }),
    { numRuns: 150 },
  );
});

test.each(PUBLIC_KEY_ALGORITHMS)(
  'a token signed with a %s key from the URL is valid',
  async (alg) => {
    const { jwksUrl, served } = await serveKeys();
    const { privateKey, jwk } = await newKey(alg, 'first');
    served.keys = [jwk];
    const guard = newGuard({ jwksUrl, algorithm: alg });

    const named = await guard(await sign(claimsOf(), { alg, key: privateKey, kid: 'first' }));
    const nameless = await guard(await sign(claimsOf(), { alg, key: privateKey }));

    expect([named.status, nameless.status]).toEqual([200, 200]);
    expect(served.readings).toBe(1);
  },
);

test('with keys from a URL only the configured algorithm is accepted', async () => {
  const { jwksUrl, served } = await serveKeys();
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = await newKey('ES256', 'ec');
  served.keys = [{ ...(await exportJWK(rsa.publicKey)), kid: 'rsa' }, ec.jwk];
  const guard = newGuard({ jwksUrl, algorithm: 'RS256' });
  const pem = new TextEncoder().encode(
    rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  );

  // The public key as if it were a shared secret.
  const confused = await guard(await sign(claimsOf(), { key: pem, kid: 'rsa' }));
  const other = await guard(
    await sign(claimsOf(), { alg: 'ES256', key: ec.privateKey, kid: 'ec' }),
  );
  const unsigned = await guard(`${encode({ alg: 'none', kid: 'rsa' })}.${PAYLOAD}.`);

  expect([confused.status, other.status, unsigned.status]).toEqual([401, 401, 401]);
});

test('concurrent tokens read the keys once', async () => {
  const { jwksUrl, served } = await serveKeys();
  const { privateKey, jwk } = await newKey('ES256', 'first');
  served.keys = [jwk];
  const guard = newGuard({ jwksUrl, algorithm: 'ES256' });
  const token = await sign(claimsOf(), { alg: 'ES256', key: privateKey, kid: 'first' });

  const responses = await Promise.all(Array.from({ length: 20 }, () => guard(token)));

  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  expect(served.readings).toBe(1);
});

test.each<[string, RequestListener]>([
  ['responds 500', (_, res) => res.writeHead(500).end()],
  ['redirects', (_, res) => res.writeHead(302, { location: 'http://127.0.0.1:1' }).end()],
  ['sends no JSON', (_, res) => res.end('<html>')],
  ['sends no keys', (_, res) => res.end('{}')],
  ['closes the connection', (req) => req.socket.destroy()],
  ['does not respond', () => {}],
  ['never ends the response', (_, res) => void res.write('{"keys":[')],
  ['sends too much', (_, res) => res.end(`{"keys":[],"x":"${'x'.repeat(300_000)}"}`)],
])('if the URL of the keys %s, the response is 503 with Retry-After', async (_, respond) => {
  const { jwksUrl } = await serveKeys(respond);
  const { privateKey } = await newKey('ES256', 'first');
  const guard = newGuard({ jwksUrl, algorithm: 'ES256' });
  const token = await sign(claimsOf(), { alg: 'ES256', key: privateKey, kid: 'first' });

  const response = await guard(token);

  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(response.headers.get('www-authenticate')).toBeNull();
  expect(await response.text()).not.toContain('127.0.0.1');
});
