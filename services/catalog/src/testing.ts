import { join } from 'node:path';
import { Readable } from 'node:stream';

import { newFolder } from '@fw/service/testing/vitest';
import type { Application } from 'fw';
import { onTestFinished } from 'vitest';

import { type CatalogAppOptions, createCatalogApp } from './app.ts';
import { importItems } from './import/import.ts';
import type { Rejection } from './import/read-items.ts';
import { createSource } from './import/source.ts';
import type { Item } from './item.ts';
import { openSqliteCatalogStore } from './store/sqlite.ts';
import { createSqliteImport } from './store/sqlite-import.ts';
import type { CatalogStore, ReplaceCatalog } from './store.ts';

/** A database that several processes may open. */
export interface CatalogDatabase {
  openStore(): CatalogStore;
  readonly replace: ReplaceCatalog;
}

/** Creates a valid item. */
export function itemOf(id: number, changes: Partial<Item> = {}): Item {
  return {
    id,
    name: `Kettle ${id}`,
    category: 'Kitchen',
    brand: 'Brisk',
    priceCents: 4990,
    currency: 'EUR',
    description: 'Boils water.',
    tags: ['tea', 'appliance'],
    ...changes,
  };
}

/** NDJSON with these items. */
export function toLines(items: readonly Item[]): string {
  const lines = items.map(({ priceCents, ...rest }) =>
    JSON.stringify({ ...rest, price_cents: priceCents }),
  );
  return lines.map((line) => `${line}\n`).join('');
}

/** Imports a file with this content, which arrives in one or more chunks. */
export async function importText(
  { replace }: Pick<CatalogDatabase, 'replace'>,
  content: string | readonly string[],
  { maxRejectedPercent = 100, signal = new AbortController().signal } = {},
) {
  const chunks = [content].flat().map((text) => Buffer.from(text));
  const rejections: Rejection[] = [];
  const outcome = await importItems({
    open: () => createSource(Readable.from(chunks)),
    replace,
    maxRejectedPercent,
    signal,
    onRejections: (some) => void rejections.push(...some),
  });
  return { ...outcome, rejections };
}

/** A new SQLite file. */
export function newSqliteDatabase(file = join(newFolder(), 'catalog.db')): CatalogDatabase {
  return {
    openStore: () => openSqliteCatalogStore(file, { timeoutMs: 1_000 }),
    replace: createSqliteImport(file, { timeoutMs: 1_000 }),
  };
}

/** Creates the API with these items. */
export async function createTestApi(
  items: readonly Item[],
  options: Pick<CatalogAppOptions, 'authenticate'> = {},
): Promise<Application> {
  const database = newSqliteDatabase();
  await importText(database, toLines(items));
  const store = database.openStore();
  onTestFinished(() => store.close());
  return createCatalogApp({ ...options, store });
}
