import { inspect } from 'node:util';

import { expect, test } from 'vitest';

import { createClient } from './client.ts';
import { startApi } from './testing/start-api.ts';

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

test.each([
  ['nina:secret', 'nina:secret'],
  ['nina', 'nina:'],
  [':secret', ':secret'],
  ['zo%C3%AB:a%2Fb%40c', 'zoë:a/b@c'],
])(
  'the user and password %s of baseUrl are sent as %s, and are in no error',
  async (user, sent) => {
    const { baseUrl, received } = await startApi((res) => res.writeHead(500).end());
    const client = createClient<{ '/': { get: object } }>({
      baseUrl: baseUrl.replace('//', `//${user}@`),
      attempts: 1,
    });

    const error = await client.get('/').catch((reason) => reason);

    const [scheme, credentials = ''] = received[0]?.headers.authorization?.split(' ') ?? [];
    expect([scheme, Buffer.from(credentials, 'base64').toString()]).toEqual(['Basic', sent]);
    expect(inspect(error, { depth: 9 })).not.toMatch(/secret|nina|%2F/);
  },
);

test.each([
  'ftp://nina:secret@host',
  'http://nina:secret%zz@host',
  'http://nina:secret%FF@host',
  'http://ada:50%secret@host',
  'http://nina:secret@host/?a=1',
  'nina:secret@host',
  'http://a:secret/x@h',
])('the error of the baseUrl %s contains no password', (baseUrl) => {
  const error = catchError(() => createClient({ baseUrl }));

  expect(error).toBeInstanceOf(TypeError);
  expect(inspect(error)).not.toContain('secret');
});

function catchError(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}
