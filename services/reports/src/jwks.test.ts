import { setTimeout as sleep } from 'node:timers/promises';

import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { expect, test, vi } from 'vitest';

import { type RemoteKeysOptions, remoteKeys } from './jwks.ts';
import { startHttpServer } from './testing/http-server.ts';

async function newKey(kid: string): Promise<JWK> {
  const { publicKey } = await generateKeyPair('ES256');
  return { ...(await exportJWK(publicKey)), kid };
}

/** Finds keys by their ids at a server whose keys a test may change. */
async function newRemote(options: RemoteKeysOptions = {}) {
  const served = {
    keys: [await newKey('first')],
    readings: 0,
    isAway: false,
    isEndless: false,
    body: undefined as string | undefined,
  };
  const server = await startHttpServer((_, res) => {
    served.readings++;
    if (served.isAway) res.writeHead(503).end();
    else if (served.isEndless) res.write(' ');
    else if (served.body !== undefined) res.end(served.body);
    else res.end(JSON.stringify({ keys: served.keys }));
  });
  const keys = remoteKeys(new URL(server.url), options);
  const find = async (kid: string) => {
    const key = await keys({ alg: 'ES256', kid }, { payload: '', signature: '' });
    return 'type' in key ? key.type : undefined;
  };
  return { served, find };
}

test('a key that was added is found when a token names it', async () => {
  const { served, find } = await newRemote({ cooldownMs: 0 });
  expect(await find('first')).toBe('public');

  served.keys = [await newKey('second')];

  expect(await find('second')).toBe('public');
  await expect(find('first')).rejects.toThrow('no applicable key');
});

test('a key that is not known is no reason to read again within the cooldown', async () => {
  const { served, find } = await newRemote({ cooldownMs: 60_000 });
  await find('first');

  for (let count = 0; count < 10; count++) await expect(find('other')).rejects.toThrow();

  expect(served.readings).toBe(1);
});

test('while the address is away the keys that are known count', async () => {
  const { served, find } = await newRemote({ cooldownMs: 0, refreshMs: 0, retryMs: 1 });
  await find('first');

  served.isAway = true;

  expect(await find('first')).toBe('public');
  await vi.waitFor(() => expect(served.readings).toBeGreaterThan(1));
  expect(await find('first')).toBe('public');
  await expect(find('other')).rejects.toMatchObject({ status: 503 });
});

test('keys that cannot be read again for too long count no more', async () => {
  const { served, find } = await newRemote({ maxAgeMs: 50 });
  await find('first');

  served.isAway = true;
  await sleep(60);

  await expect(find('first')).rejects.toMatchObject({ status: 503 });
});

test.each([
  ['a response with status 503', { isAway: true }],
  ['a response that is no JSON', { body: '<html>' }],
  ['a response without keys', { body: '{}' }],
])('after %s the keys are read again in retryMs, not in refreshMs', async (_, failure) => {
  let clockMs = 0;
  const times = { refreshMs: 600_000, retryMs: 1_000 };
  const { served, find } = await newRemote({ ...times, now: () => clockMs });
  await find('first');
  const { isAway, body } = served;
  Object.assign(served, failure);
  clockMs += times.refreshMs;
  await find('first');
  await vi.waitFor(() => expect(served.readings).toBe(2));
  Object.assign(served, { isAway, body });

  const failedMs = clockMs;
  await vi.waitFor(async () => {
    clockMs += times.retryMs;
    expect(await find('first')).toBe('public');
    expect(served.readings).toBe(3);
  }, 5_000);

  expect(clockMs - failedMs).toBeLessThan(times.refreshMs);
});

test('a response of more than 256 KiB is given up, and the request is 503', async () => {
  const { served, find } = await newRemote();
  served.body = ' '.repeat(300_000);

  await expect(find('first')).rejects.toMatchObject({
    status: 503,
    cause: { message: 'The response is longer than 262144 bytes' },
  });
});

test('a response that does not end is given up, and the request is 503', async () => {
  const { served, find } = await newRemote();
  served.isEndless = true;

  await expect(find('first')).rejects.toMatchObject({ status: 503 });
});

test('an address that has just failed is left alone', async () => {
  const { served, find } = await newRemote({ retryMs: 60_000 });
  served.isAway = true;

  for (let count = 0; count < 10; count++) {
    await expect(find('first')).rejects.toMatchObject({ status: 503 });
  }

  expect(served.readings).toBe(1);
});

test('an address that is back is found after the time that it is left alone', async () => {
  const { served, find } = await newRemote({ retryMs: 20 });
  served.isAway = true;
  await expect(find('first')).rejects.toMatchObject({ status: 503 });
  served.isAway = false;

  await vi.waitFor(async () => expect(await find('first')).toBe('public'), { timeout: 5_000 });
});

test('old keys are read again in the background', async () => {
  const { served, find } = await newRemote({ refreshMs: 0, cooldownMs: 60_000 });
  await find('first');
  served.keys = [await newKey('second')];

  expect(await find('first')).toBe('public');

  await vi.waitFor(async () => expect(await find('second')).toBe('public'), { timeout: 5_000 });
});
