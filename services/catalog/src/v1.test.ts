import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { quiet, request } from '@fw/core/testing';
import { type Send, sendTo } from '@fw/service/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';

import { createCatalogApp } from './app.ts';
import { openSqliteCatalogStore } from './store/sqlite.ts';
import { importText, itemOf, newSqliteDatabase, toLines } from './testing.ts';
import { describeCatalogV1 } from './v1.test-suite.ts';

let send: Send;
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'test-'));
  const database = newSqliteDatabase(join(folder, 'catalog.db'));
  await importText(database, toLines(Array.from({ length: 145 }, (_, at) => itemOf(at + 1))));
  const store = database.openStore();
  send = sendTo(createCatalogApp({ store }));
  return async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  };
});

describeCatalogV1((...parts) => send(...parts));

test('a service without a catalog sends 503 with Retry-After', async () => {
  const store = openSqliteCatalogStore(':memory:', { timeoutMs: 1_000 });
  onTestFinished(() => store.close());

  const response = await request(createCatalogApp({ store, logger: quiet }), '/api/v1/catalog');

  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
});
