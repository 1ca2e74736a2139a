import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { startHttpServer } from '../testing/http-server.ts';
import { type RemoteKeysOptions, remoteKeys } from './remote-keys.ts';

async function newKey(kid: string): Promise<JWK> {
  const { publicKey } = await generateKeyPair('ES256');
  return { ...(await exportJWK(publicKey)), kid };
}

/** A server of keys that a test may change, and a function that finds a key by its id. */
async function newRemote(options: RemoteKeysOptions = {}) {
  const served = {
    keys: [await newKey('first')] as unknown[],
    readings: 0,
    isUnavailable: false,
  };
  const server = await startHttpServer((_, res) => {
    served.readings++;
    if (served.isUnavailable) res.writeHead(503).end();
    else res.end(JSON.stringify({ keys: served.keys }));
  });
  const keys = remoteKeys(new URL(server.url), { retryMs: 0, ...options });
  const find = async (kid: string, alg = 'ES256') => {
    const key = await keys({ alg, kid }, { payload: '', signature: '' });
    return 'type' in key ? key.type : undefined;
  };
  return { served, find };
}

test('a new key is found when a token names it', async () => {
  const { served, find } = await newRemote({ cooldownMs: 0 });
  expect(await find('first')).toBe('public');

  served.keys = [await newKey('second')];

  expect(await find('second')).toBe('public');
  await expect(find('first')).rejects.toThrow('no applicable key');
});

test('unknown keys do not cause another read within the cooldown', async () => {
  const { served, find } = await newRemote({ cooldownMs: 60_000 });
  await find('first');

  for (let count = 0; count < 10; count++) await expect(find('other')).rejects.toThrow();

  expect(served.readings).toBe(1);
});

test('known keys stay valid while their URL is unavailable', async () => {
  const { served, find } = await newRemote({ cooldownMs: 0, refreshMs: 0 });
  await find('first');

  served.isUnavailable = true;

  expect(await find('first')).toBe('public');
  await expect.poll(() => served.readings).toBeGreaterThan(1);
  expect(await find('first')).toBe('public');
  await expect(find('other')).rejects.toMatchObject({ status: 503 });
});

test('keys older than maxAgeMs are invalid while their URL is unavailable', async () => {
  const { served, find } = await newRemote({ maxAgeMs: 50 });
  await find('first');

  served.isUnavailable = true;
  await sleep(60);

  await expect(find('first')).rejects.toMatchObject({ status: 503 });
});

test('keys are read as soon as the URL is available', async () => {
  const { served, find } = await newRemote();
  served.isUnavailable = true;
  await expect(find('first')).rejects.toMatchObject({ status: 503 });
  served.isUnavailable = false;

  expect(await find('first')).toBe('public');
});

test('while the URL is unavailable, tokens cause one read per retryMs', async () => {
  const { served, find } = await newRemote({ cooldownMs: 0, retryMs: 60_000 });
  served.isUnavailable = true;

  for (let count = 0; count < 10; count++) {
    await expect(find(`kid-${count}`)).rejects.toMatchObject({ status: 503 });
  }

  expect(served.readings).toBe(1);
});

test('old keys are read again in the background', async () => {
  const { served, find } = await newRemote({ refreshMs: 0, cooldownMs: 60_000 });
  await find('first');
  served.keys = [await newKey('second')];

  expect(await find('first')).toBe('public');

  await expect.poll(() => find('second')).toBe('public');
});

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const jwkOf = (key: { export(options: { format: 'jwk' }): object }) =>
  key.export({ format: 'jwk' });
const RSA = jwkOf(rsa.publicKey);
const WEAK = jwkOf(generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey);
const ON_CURVE = jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey);

test.each<[string, string, unknown]>([
  ['an RSA key with the exponent 1', 'RS256', { ...RSA, e: 'AQ' }],
  ['an RSA key of 1,024 bits', 'RS256', WEAK],
  ['a private RSA key', 'RS256', jwkOf(rsa.privateKey)],
  ['a key outside of its curve', 'ES256', { ...ON_CURVE, x: 'AAAA' }],
  ['an Ed25519 key of 3 bytes', 'EdDSA', { kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }],
])('%s is ignored with one warning, and the other keys stay valid', async (_, alg, key) => {
  const { served, find } = await newRemote({ cooldownMs: 0 });
  served.keys.push({ ...Object(key), kid: 'unusable' });
  const warned = once(process, 'warning');
  const warnings: Error[] = [];
  const record = (warning: Error) => void warnings.push(warning);
  process.on('warning', record);
  onTestFinished(() => void process.off('warning', record));

  await expect(find('unusable', alg)).rejects.toThrow('no applicable key');
  expect(await find('first')).toBe('public');
  await expect(find('unusable', alg)).rejects.toThrow('no applicable key');
  await warned;

  expect(served.readings).toBeGreaterThan(1);
  const own = warnings.filter(({ message }) => message.startsWith('bearerToken: ignored keys'));
  expect(own).toHaveLength(1);
  expect(own[0]?.message).toMatch(/with the kid "unusable": expected public keys/);
});

test.each<[string, unknown]>([
  ['a key for encryption', { ...RSA, use: 'enc', n: 'AAAA' }],
  ['a key of an unknown type', { kty: 'new' }],
  ['a shared secret', { kty: 'oct', k: 'AAAA' }],
  ['a key whose alg is not a text', { ...ON_CURVE, alg: 7 }],
  ['a text', 'key'],
])('next to %s, the other keys stay valid', async (_, key) => {
  const { served, find } = await newRemote();
  served.keys.push(Object(key) === key ? { ...Object(key), kid: 'other' } : key);

  expect(await find('first')).toBe('public');
  await expect(find('other')).rejects.toThrow('no applicable key');
});
