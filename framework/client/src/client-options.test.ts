import { expect, test } from 'vitest';

import { createClient } from './client.ts';

const BASE_URL = 'http://localhost';

test.each(['', 'localhost', 'ftp://a', 'http://a/?b=c', '/api'])(
  'createClient() rejects the address "%s"',
  (baseUrl) => {
    expect(() => createClient({ baseUrl })).toThrow(
      `Cannot read option baseUrl "${baseUrl}" of createClient(): expected an http address`,
    );
  },
);

test.each([
  [{ deadlineMs: 0 }, 'Cannot read option deadlineMs "0": expected a whole number from 1 to'],
  [{ attemptMs: 2 ** 31 }, 'Cannot read option attemptMs "2147483648"'],
  [{ attempts: 1.5 }, 'Cannot read option attempts "1.5"'],
  [{ retryDelayMs: Number.NaN }, 'Cannot read option retryDelayMs "NaN"'],
  [{ cacheBytes: -1 }, 'Cannot read option cacheBytes "-1"'],
  [{ timeout: 5 }, 'createClient() has no option "timeout"; its options: baseUrl, name,'],
])('createClient() rejects %j', (options, message) => {
  expect(() => createClient({ baseUrl: BASE_URL, ...options })).toThrow(message);
});

test('a call rejects an invalid deadline', async () => {
  const client = createClient<{ '/': { get: object } }>({ baseUrl: BASE_URL });

  await expect(client.get('/', { deadlineMs: Number.NaN })).rejects.toThrow(
    'Cannot read option deadlineMs "NaN": expected a whole number from 1 to',
  );
});
