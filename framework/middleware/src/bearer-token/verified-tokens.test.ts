import { createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

import { type JWTVerifyGetKey, jwtVerify, SignJWT } from 'jose';
import { expect, test } from 'vitest';

import { rememberTokens, type Verify } from './verified-tokens.ts';

const SECONDS = 1_000;
const newSecret = (text: string) => createSecretKey(Buffer.from(text.padEnd(32, '.')));

/** Signs tokens, and reads their claims at a time that a test sets; `verified` counts the signatures. */
function newReader(keys: { alg: string; sign: KeyObject; verify: KeyObject }) {
  const state = { nowMs: 1_000_000 * SECONDS, verified: 0, current: keys.verify };
  const key: JWTVerifyGetKey = () => state.current;
  const verify: Verify = (token, keyOf) => {
    state.verified++;
    return jwtVerify(token, keyOf, { currentDate: new Date(state.nowMs) });
  };
  const read = rememberTokens(key, verify, () => state.nowMs);
  const newToken = (sub: string, lifetimeSeconds = 60) =>
    new SignJWT({ roles: ['reader'] })
      .setProtectedHeader({ alg: keys.alg })
      .setSubject(sub)
      .setExpirationTime(state.nowMs / SECONDS + lifetimeSeconds)
      .sign(keys.sign);
  return { state, read, newToken };
}

const newHmacReader = () => {
  const secret = newSecret('one');
  return newReader({ alg: 'HS256', sign: secret, verify: secret });
};

test.each(['HS256', 'RS256', 'ES256', 'EdDSA'])(
  'a token of %s is verified once in five seconds',
  async (alg) => {
    const secret = newSecret('one');
    const pair = {
      HS256: { privateKey: secret, publicKey: secret },
      RS256: generateKeyPairSync('rsa', { modulusLength: 2_048 }),
      ES256: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
      EdDSA: generateKeyPairSync('ed25519'),
    }[alg];
    if (!pair) throw new Error(alg);
    const { state, read, newToken } = newReader({
      ...{ alg, sign: pair.privateKey, verify: pair.publicKey },
    });
    const token = await newToken('ada');

    const claims = [await read(token), await read(token)];
    state.nowMs += 5 * SECONDS - 1;
    await read(token);
    expect(state.verified).toBe(1);
    state.nowMs += 1;
    await read(token);

    expect(state.verified).toBe(2);
    expect(claims[0]).toMatchObject({ sub: 'ada', roles: ['reader'] });
    expect(claims[1]).toEqual(claims[0]);
  },
);

test('a token is not valid after its expiry', async () => {
  const { state, read, newToken } = newHmacReader();
  const token = await newToken('ada', 2);
  await read(token);

  state.nowMs += 2 * SECONDS;

  await expect(read(token)).rejects.toThrow('"exp" claim timestamp check failed');
});

test('a token is verified again once its key has changed, also back', async () => {
  const { state, read, newToken } = newHmacReader();
  const token = await newToken('ada');
  const first = state.current;
  await read(token);

  state.current = newSecret('two');
  await expect(read(token)).rejects.toThrow('signature verification failed');
  state.current = first;
  await read(token);

  expect(state.verified).toBe(3);
});

test('each part of a token counts: a changed one is verified, and stays invalid', async () => {
  const { state, read, newToken } = newHmacReader();
  const token = await newToken('ada');
  const [head = '', payload = '', signature = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'eve' })).toString('base64url');
  await read(token);

  for (const changed of [
    `${head}.${forged}.${signature}`,
    `${head}.${payload}.${signature.slice(0, -2)}AA`,
    `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
  ]) {
    await expect(read(changed)).rejects.toThrow();
    await expect(read(changed)).rejects.toThrow();
  }

  expect(state.verified).toBe(7);
});

test('what a handler changes in the claims is not seen by the next request', async () => {
  const { read, newToken } = newHmacReader();
  const token = await newToken('ada');

  for (const _ of [1, 2]) Object.assign(await read(token), { sub: 'eve', roles: ['admin'] });

  expect(await read(token)).toMatchObject({ sub: 'ada', roles: ['reader'] });
});

test('at most 1,000 tokens are remembered: the oldest is verified again', async () => {
  const { state, read, newToken } = newHmacReader();
  const tokens = await Promise.all(Array.from({ length: 1_001 }, (_, at) => newToken(`u${at}`)));
  for (const token of tokens) await read(token);

  await read(tokens[1_000] ?? '');
  await read(tokens[1] ?? '');
  expect(state.verified).toBe(1_001);
  await read(tokens[0] ?? '');

  expect(state.verified).toBe(1_002);
});
