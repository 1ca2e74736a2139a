import { expect, test } from 'vitest';

import { crashPostgres, crashService } from './crashes.ts';

const onProgress = () => {};

test('every acknowledged user survives kill -9 of the service', { timeout: 120_000 }, async () => {
  const audit = await crashService({ crashes: 5, onProgress });

  expect(audit).toMatchObject({ lost: 0, surplus: 0 });
  expect(audit.acknowledged).toBeGreaterThanOrEqual(5);
});

test('every acknowledged user survives kill -9 of PostgreSQL', { timeout: 120_000 }, async () => {
  const audit = await crashPostgres({ crashes: 2, writesPerCrash: 200, onProgress });

  expect(audit).toMatchObject({ lost: 0, surplus: 0 });
  expect(audit.acknowledged).toBeGreaterThanOrEqual(400);
});

test('users that are acknowledged too early are missed', {
  timeout: 120_000,
  retry: 2, // now and then a crash comes just after the last of them has been written
}, async () => {
  const audit = await crashPostgres({
    crashes: 1,
    writesPerCrash: 200,
    synchronousCommit: 'off',
    onProgress,
  });

  expect(audit.lost).toBeGreaterThan(0);
});
