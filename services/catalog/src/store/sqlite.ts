import type { DatabaseSync } from 'node:sqlite';

import { inSnapshot, inTransaction, openDatabase } from '@fw/service/sqlite';

import type { ItemData } from '../read-items.ts';
import type { CatalogStore, ItemList, Slice } from '../store.ts';

const FORMAT = {
  applicationId: 0x66776361, // "fwca"
  migrations: [
    `CREATE TABLE items (
       id          INTEGER PRIMARY KEY,
       name        TEXT NOT NULL,
       category    TEXT NOT NULL,
       brand       TEXT NOT NULL,
       price_cents INTEGER NOT NULL,
       currency    TEXT NOT NULL,
       description TEXT NOT NULL,
       tags        TEXT NOT NULL -- a JSON array
     ) STRICT;
     CREATE TABLE loaded (version TEXT NOT NULL) STRICT`,
  ],
};

/**
 * Keeps the items of `data` in an SQLite file, which several processes may share. Data that is in
 * the file already is not loaded again; other data takes its place, all at once.
 *
 * @throws {Error} naming the file, if it cannot be opened or holds something else
 */
export function openSqliteCatalogStore(file: string, data: ItemData): CatalogStore {
  const database = openLoaded(file, data);
  const any = database.prepare('SELECT 1 FROM items LIMIT 1');
  const count = database.prepare('SELECT count(*) AS total FROM items');
  const list = database.prepare('SELECT id, name FROM items ORDER BY id LIMIT ? OFFSET ?');

  return {
    async list({ start, limit }: Slice): Promise<ItemList> {
      return inSnapshot(database, () => ({
        items: list
          .all(limit, start)
          .map(({ id, name }) => ({ id: Number(id), name: String(name) })),
        total: Number(count.get()?.total),
      }));
    },
    async check() {
      any.get();
    },
    async close() {
      database.close();
    },
  };
}

function openLoaded(file: string, data: ItemData): DatabaseSync {
  const database = openDatabase(file, FORMAT);
  try {
    load(database, data);
    return database;
  } catch (error) {
    database.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot load items into "${file}": ${reason}`, { cause: error });
  }
}

function load(database: DatabaseSync, { items, version }: ItemData): void {
  inTransaction(database, () => {
    const loaded = database.prepare('SELECT version FROM loaded').get()?.version;
    if (loaded === version) return;
    database.exec('DELETE FROM items; DELETE FROM loaded');
    const insert = database.prepare('INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
    for (const item of items) {
      const { id, name, category, brand, priceCents, currency, description, tags } = item;
      const tagList = JSON.stringify(tags);
      insert.run(id, name, category, brand, priceCents, currency, description, tagList);
    }
    database.prepare('INSERT INTO loaded VALUES (?)').run(version);
  });
}
