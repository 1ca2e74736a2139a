import { setTimeout as sleep } from 'node:timers/promises';

import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { expect, test, vi } from 'vitest';

import { type RemoteKeysOptions, remoteKeys } from './remote-keys.ts';
import { startHttpServer } from './testing/http-server.ts';

async function newKey(kid: string): Promise<JWK> {
  const { publicKey } = await generateKeyPair('ES256');
  return { ...(await exportJWK(publicKey)), kid };
}

/** A server of keys that a test may change, and a function that finds a key by its id. */
async function newRemote(options: RemoteKeysOptions = {}) {
  const served = {
    keys: [await newKey('first')],
    readings: 0,
    isUnavailable: false,
  };
  const server = await startHttpServer((_, res) => {
    served.readings++;
    if (served.isUnavailable) res.writeHead(503).end();
    else res.end(JSON.stringify({ keys: served.keys }));
  });
  const keys = remoteKeys(new URL(server.url), { retryMs: 0, ...options });
  const find = async (kid: string) => {
    const key = await keys({ alg: 'ES256', kid }, { payload: '', signature: '' });
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
  await vi.waitFor(() => expect(served.readings).toBeGreaterThan(1));
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

  await vi.waitFor(async () => expect(await find('second')).toBe('public'), { timeout: 5_000 });
});
