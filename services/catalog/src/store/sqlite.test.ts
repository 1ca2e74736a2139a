import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';

import type { Item } from '../item.ts';
import { describeCatalogStore } from './contract.ts';
import { openSqliteCatalogStore } from './sqlite.ts';

describeCatalogStore('the SQLite store', async (items) =>
  openSqliteCatalogStore(':memory:', { items, version: '1' }),
);

function newFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'catalog-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'catalog.db');
}

const KETTLE: Item = {
  id: 7,
  name: 'Kettle',
  category: 'Kitchen',
  brand: 'Brisk',
  priceCents: 4990,
  currency: 'EUR',
  description: 'Boils water.',
  tags: ['tea', 'appliance'],
};

function rows(file: string) {
  const database = new DatabaseSync(file, { readOnly: true });
  onTestFinished(() => database.close());
  return database.prepare('SELECT * FROM items').all();
}

test('the store keeps every field of an item', async () => {
  const file = newFile();

  await openSqliteCatalogStore(file, { items: [KETTLE], version: '1' }).close();

  expect(rows(file)).toMatchObject([
    {
      id: 7,
      name: 'Kettle',
      category: 'Kitchen',
      brand: 'Brisk',
      price_cents: 4990,
      currency: 'EUR',
      description: 'Boils water.',
      tags: '["tea","appliance"]',
    },
  ]);
});

test('the same version is not loaded again', async () => {
  const file = newFile();
  await openSqliteCatalogStore(file, { items: [KETTLE], version: '1' }).close();

  await openSqliteCatalogStore(file, { items: [], version: '1' }).close();

  expect(rows(file)).toHaveLength(1);
});

test('another version takes the place of what was there', async () => {
  const file = newFile();
  await openSqliteCatalogStore(file, { items: [KETTLE], version: '1' }).close();

  const items = [{ ...KETTLE, id: 8, name: 'Teapot' }];
  const store = openSqliteCatalogStore(file, { items, version: '2' });
  onTestFinished(() => store.close());

  const list = { items: [{ id: 8, name: 'Teapot' }], total: 1 };
  expect(await store.list({ start: 0, limit: 20 })).toEqual(list);
});

test('items that cannot be loaded leave what was there', async () => {
  const file = newFile();
  await openSqliteCatalogStore(file, { items: [KETTLE], version: '1' }).close();

  const twice = {
    items: [
      { ...KETTLE, id: 8 },
      { ...KETTLE, id: 8 },
    ],
    version: '2',
  };
  expect(() => openSqliteCatalogStore(file, twice)).toThrow('UNIQUE constraint failed');

  expect(rows(file)).toMatchObject([{ id: 7 }]);
});
