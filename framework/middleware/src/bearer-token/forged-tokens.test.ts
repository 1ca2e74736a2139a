import { createHmac, generateKeyPairSync } from 'node:crypto';
import { createApp, type Middleware } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { exportJWK, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { startHttpServer } from '../testing/http-server.ts';
import { AUDIENCE, claimsOf, encode, forge, ISSUER, SECRET, sign } from '../testing/tokens.ts';
import { bearerToken } from './bearer-token.ts';

const now = Math.floor(Date.now() / 1000);
const unlimited: Middleware = (_ctx, next) => next();
const CLAIMS = { issuer: ISSUER, audience: AUDIENCE, failureLimiter: unlimited };

const LISTED_SECRET = 'a secret in the list of public keys';

/** Signs `header` and `claims` with any secret, also for a header with another algorithm. */
function hmac(header: object, secret: string, claims: object = claimsOf()): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

describe('a service with a shared secret', () => {
  const app = createApp({ logger: quiet }).use(errorHandler());
  app.use(bearerToken({ secret: SECRET, ...CLAIMS }), (ctx) => ctx.send('passed'));
  const statusOf = async (token: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    const { status, headers: received } = await request(app, '/', { headers });
    return [status, received.get('www-authenticate')?.slice(0, 28)];
  };
  const HS256 = { alg: 'HS256' };
  const valid = forge(HS256);
  const [head = '', body = '', signature = ''] = valid.split('.');
  const attacker = 'a secret of the attacker with 32 bytes';

  test('accepts the token that the forged ones vary', async () => {
    expect(await statusOf(valid)).toEqual([200, undefined]);
  });

  test.each<[string, string | Promise<string>]>([
    // The algorithm
    ['alg none without a signature', `${encode({ alg: 'none' })}.${body}.`],
    [
      'alg NONE with the signature of a valid token',
      `${encode({ alg: 'NONE' })}.${body}.${signature}`,
    ],
    ['no alg', forge({})],
    ['HS384', sign(claimsOf(), { alg: 'HS384', key: Buffer.alloc(48, 7) })],
    ['alg RS256 with a signature of HS256', forge({ alg: 'RS256' })],
    [
      'a repeated alg',
      `${Buffer.from('{"alg":"HS256","alg":"none"}').toString('base64url')}.${body}.`,
    ],
    // The key
    ['an empty secret', hmac(HS256, '')],
    ['the key in jwk', hmac({ ...HS256, jwk: { kty: 'oct', k: encode(attacker) } }, attacker)],
    ['the URL of a key in jku', hmac({ ...HS256, jku: 'https://evil.example/keys' }, attacker)],
    ['a path as kid', hmac({ ...HS256, kid: '../../../dev/null' }, '')],
    // The header
    ['an unknown crit', forge({ ...HS256, crit: ['exp'], exp: now })],
    ['a payload that is not encoded', forge({ ...HS256, crit: ['b64'], b64: false })],
    ['a header that is a list', forge([])],
    ['an encrypted token', `${encode({ alg: 'dir', enc: 'A256GCM' })}..AAAA.AAAA.AAAA`],
    // The time
    ['exp in milliseconds of the past', forge(HS256, claimsOf({ exp: -now * 1000 }))],
    ['no exp', forge(HS256, claimsOf({ exp: undefined }))],
    ['exp as text', forge(HS256, claimsOf({ exp: '9999999999' }))],
    [
      'exp infinite',
      `${head}.${Buffer.from(`{"iss":"${ISSUER}","aud":"${AUDIENCE}","sub":"ada","exp":1e999}`).toString('base64url')}.${signature}`,
    ],
    ['nbf as text', forge(HS256, claimsOf({ nbf: '0' }))],
    // Issuer, audience, subject
    ['another issuer', forge(HS256, claimsOf({ iss: `${ISSUER}.evil` }))],
    ['no issuer', forge(HS256, claimsOf({ iss: undefined }))],
    ['another audience', forge(HS256, claimsOf({ aud: 'users' }))],
    ['the audience as a part', forge(HS256, claimsOf({ aud: `${AUDIENCE}-admin` }))],
    ['no audience', forge(HS256, claimsOf({ aud: undefined }))],
    ['no sub', forge(HS256, claimsOf({ sub: undefined }))],
    ['an empty sub', forge(HS256, claimsOf({ sub: '' }))],
    ['a sub with a line break', forge(HS256, claimsOf({ sub: 'ada\nroot' }))],
    ['a sub of 256 characters', forge(HS256, claimsOf({ sub: 'a'.repeat(256) }))],
    ['a sub outside of ASCII', forge(HS256, claimsOf({ sub: 'zoë' }))],
    ['a number as sub', forge(HS256, claimsOf({ sub: 7 }))],
    ['a payload that is a list', forge(HS256, [claimsOf()])],
    // The form
    ['no signature', `${head}.${body}.`],
    ['two parts', `${head}.${body}`],
    ['four parts', `${valid}.${signature}`],
    ['the payload of another token', `${head}.${encode(claimsOf({ sub: 'root' }))}.${signature}`],
    ['a shortened signature', valid.slice(0, -2)],
    ['padding', `${valid}=`],
    ['more than 8 KiB', forge(HS256, claimsOf({ x: 'x'.repeat(8_192) }))],
  ])('rejects a token with %s', async (_, token) => {
    expect(await statusOf(await token)).toEqual([401, 'Bearer error="invalid_token"']);
  });
});

describe('a service with public keys', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const signRsa = (header: object, key = rsa.privateKey) =>
    new SignJWT(claimsOf()).setProtectedHeader({ alg: 'RS256', ...header }).sign(key);

  async function statusOf(token: string) {
    const keys = [
      { ...(await exportJWK(rsa.publicKey)), kid: 'rsa', alg: 'RS256' },
      { ...(await exportJWK(ec.publicKey)), kid: 'ec', use: 'enc' },
      { kty: 'oct', k: Buffer.from(LISTED_SECRET).toString('base64url'), kid: 'oct' },
    ];
    const { url } = await startHttpServer((_, res) => res.end(JSON.stringify({ keys })));
    const app = createApp({ logger: quiet }).use(errorHandler());
    app.use(bearerToken({ jwksUrl: url, ...CLAIMS }), (ctx) => ctx.send('passed'));
    return (await request(app, '/', { headers: { Authorization: `Bearer ${token}` } })).status;
  }

  test('accepts the token that the forged ones vary', async () => {
    expect(await statusOf(await signRsa({ kid: 'rsa' }))).toBe(200);
  });

  test.each<[string, () => string | Promise<string>]>([
    ['HS256 with the public key as PEM', () => hmac({ alg: 'HS256', kid: 'rsa' }, pem)],
    ['HS256 with a secret of the list', () => hmac({ alg: 'HS256', kid: 'oct' }, LISTED_SECRET)],
    [
      'alg none and a known kid',
      () => `${encode({ alg: 'none', kid: 'rsa' })}.${encode(claimsOf())}.`,
    ],
    ['another key and a known kid', () => signRsa({ kid: 'rsa' }, other.privateKey)],
    ['an unknown kid', () => signRsa({ kid: 'other' })],
    ['the kid of a key for another algorithm', () => signRsa({ kid: 'ec' })],
    ['an algorithm that the key does not allow', () => signRsa({ alg: 'PS256', kid: 'rsa' })],
    [
      'a key for encryption',
      () =>
        new SignJWT(claimsOf()).setProtectedHeader({ alg: 'ES256', kid: 'ec' }).sign(ec.privateKey),
    ],
    [
      'the own key in jwk',
      async () => signRsa({ jwk: await exportJWK(other.publicKey) }, other.privateKey),
    ],
  ])('rejects a token with %s', async (_, create) => {
    expect(await statusOf(await create())).toBe(401);
  });
});
