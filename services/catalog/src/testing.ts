import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import type { Application } from 'fw';
import { onTestFinished } from 'vitest';

import { createCatalogApp } from './app.ts';
import { importItems } from './import/import.ts';
import { createSource } from './import/source.ts';
import type { ImportTarget, Refusal } from './import/target.ts';
import type { Item } from './item.ts';
import { openSqliteCatalogStore } from './store/sqlite.ts';
import { openSqliteImport } from './store/sqlite-import.ts';
import type { CatalogStore } from './store.ts';

/** One place where a catalog may be, as several processes see it. */
export interface CatalogPlace {
  openStore(): CatalogStore;
  openImport(): Promise<ImportTarget>;
}

/** An item of this id, in most ways like any other. */
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

/** A file of JSON lines with these items. */
export function toLines(items: readonly Item[]): string {
  const lines = items.map(({ priceCents, ...rest }) =>
    JSON.stringify({ ...rest, price_cents: priceCents }),
  );
  return lines.map((line) => `${line}\n`).join('');
}

/** Imports a file with this content, as one that can be opened again. */
export async function importText(
  place: CatalogPlace,
  content: string | readonly string[],
  options: { readonly isStrict?: boolean; readonly signal?: AbortSignal } = {},
) {
  const { isStrict = false, signal = new AbortController().signal } = options;
  const target = await place.openImport();
  const refusals: Refusal[] = [];
  try {
    const chunks = [content].flat().map((text) => Buffer.from(text));
    const outcome = await importItems({
      open: () => createSource(Readable.from(chunks)),
      target,
      isResumable: true,
      isStrict,
      signal,
      onRefusals: (some) => void refusals.push(...some),
    });
    return { ...outcome, refusals };
  } finally {
    await target.close();
  }
}

/** A directory that is removed after the test. */
export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'catalog-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A new database file. */
export function newSqlitePlace(): CatalogPlace {
  const file = join(newDirectory(), 'catalog.db');
  return {
    openStore: () => openSqliteCatalogStore(file),
    openImport: async () => openSqliteImport(file),
  };
}

/** The API over these items. */
export async function apiOver(items: readonly Item[]): Promise<Application> {
  const place = newSqlitePlace();
  await importText(place, toLines(items));
  const store = place.openStore();
  onTestFinished(() => store.close());
  return createCatalogApp({ store });
}
