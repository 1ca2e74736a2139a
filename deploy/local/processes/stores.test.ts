import { expect, test } from 'vitest';

import { freePort } from '../testing/ports.ts';
import { describeStores, requireReachable } from './stores.ts';

test('make up prints the addresses of the stores without passwords', () => {
  const DATABASE_URL = 'postgres://fw:secret@db:5432/fw';
  const REDIS_URL = 'redis://:secret@cache:6379';

  expect(describeStores({ DATABASE_URL, REDIS_URL })).toBe(
    'data in PostgreSQL at db:5432/fw, rate limits in Redis at cache:6379',
  );
});

test('the error of an unavailable server contains its address without the password', async () => {
  const port = await freePort();

  await expect(
    requireReachable({ DATABASE_URL: `postgres://fw:secret@127.0.0.1:${port}/fw` }),
  ).rejects.toThrow(`Cannot reach 127.0.0.1:${port}/fw of DATABASE_URL: connect ECONNREFUSED`);
  await expect(requireReachable({ REDIS_URL: 'secret@[' })).rejects.toThrow(
    'REDIS_URL must be an address such as scheme://host',
  );
});
