import { request } from '@fw/core/testing';
import { createMetrics } from '@fw/service';
import { plantField } from '@fw/service/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { createCatalogApp } from './app.ts';
import type { Item } from './item.ts';
import { importText, itemOf, newSqliteDatabase, toLines } from './testing.ts';

test.each([
  '/api/v1/catalog',
  '/api/v2/catalog',
  '/api/v2/catalog?q=kettle&sort=-price',
  '/api/v2/catalog/facets',
  '/api/v2/catalog/figures',
  '/api/v2/catalog/1',
])('GET %s never sends an undeclared field of a row', async (path) => {
  const database = newSqliteDatabase();
  await importText(database, toLines([itemOf(1), itemOf(2)]));
  const app = createCatalogApp({ store: plantField(database.openStore()) });

  const response = await request(app, path);

  expect(response.status).toBe(200);
  expect(await response.text()).not.toContain('passwordHash');
});

describe('an item without a declared field', () => {
  /** Sends a request to an API whose store has lost the brand of an item; returns what was logged. */
  async function readItem() {
    const database = newSqliteDatabase();
    await importText(database, toLines([itemOf(1)]));
    const store = database.openStore();
    const { brand: _brand, ...item } = itemOf(1);
    const logs: string[] = [];
    const log = (message: string, error?: unknown) => void logs.push(`${message} ${error ?? ''}`);
    const metrics = createMetrics();
    const app = createCatalogApp({
      store: { ...store, find: async () => ({ version: '1', value: item as Item }) },
      logger: { info() {}, warn: log, error: log },
      metrics,
    });
    const response = await request(app, '/api/v2/catalog/1');
    return { response, logs: logs.join(), text: await metrics.register.metrics() };
  }

  test('gets 500, and the log has the pointer', async () => {
    const { response, logs } = await readItem();

    expect(response.status).toBe(500);
    expect(logs).toContain('"/data/brand" is missing');
  });

  test('is sent and counted in production', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    onTestFinished(() => void vi.unstubAllEnvs());

    const { response, logs, text } = await readItem();

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ data: { id: 1, name: 'Kettle 1' } });
    expect(logs).toContain('"/data/brand" is missing');
    expect(text).toContain(
      'http_response_contract_violations_total{route="/api/v2/catalog/:id",status="200"} 1',
    );
  });
});
