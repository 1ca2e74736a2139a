import { join } from 'node:path';

import { requestEverything, withoutCacheControl } from '@fw/service/testing';
import { testDocuments } from '@fw/service/testing/vitest';
import { expect, test } from 'vitest';

import { openSqliteUserStore } from './store/sqlite.ts';
import { createTestApi } from './testing.ts';

testDocuments(join(import.meta.dirname, '../openapi'), ['v1', 'v2'], () => createTestApi().app);

test('every response has Cache-Control, with and without a store', async () => {
  const store = openSqliteUserStore(':memory:');
  const { app } = createTestApi({ store });

  const responses = await requestEverything(app);
  await store.close();
  const failures = await requestEverything(app);

  expect(withoutCacheControl(responses)).toEqual([]);
  expect(withoutCacheControl(failures)).toEqual([]);
});
