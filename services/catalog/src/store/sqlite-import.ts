import type { DatabaseSync } from 'node:sqlite';

import { isBusy, openDatabase } from '@fw/service/sqlite';

import {
  type AddItems,
  duplicateId,
  ImportRunningError,
  type ReplaceCatalog,
  type ReplaceOptions,
  runSteps,
} from '../store.ts';
import { nameKeyOf, wordsOfItem } from '../words.ts';
import type { SqliteCatalogOptions } from './sqlite.ts';
import { indexSteps } from './sqlite-index.ts';
import { createTagWords, dropCatalogs, FORMAT, type Tables, tablesOf } from './sqlite-tables.ts';

/** Creates the import into an SQLite file. */
export function createSqliteImport(
  file: string,
  { timeoutMs = 1_000 }: SqliteCatalogOptions = {},
): ReplaceCatalog {
  return async (options) => {
    const database = openDatabase(file, FORMAT, { timeoutMs });
    try {
      begin(database);
      const isReplaced = await replaceCatalog(database, options);
      database.exec(isReplaced ? 'COMMIT' : 'ROLLBACK');
      // The log has grown with the catalog, and no other process would truncate it.
      database.exec(`PRAGMA busy_timeout = ${timeoutMs}; PRAGMA wal_checkpoint(TRUNCATE)`);
      return isReplaced;
    } finally {
      // Rolls back an open transaction.
      database.close();
    }
  };
}

/** Acquires the write lock; only imports have it for a long time. */
function begin(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA cache_size = -64000; PRAGMA busy_timeout = 0; BEGIN IMMEDIATE');
  } catch (error) {
    throw isBusy(error) ? new ImportRunningError({ cause: error }) : error;
  }
}

async function replaceCatalog(
  database: DatabaseSync,
  { fill, onIndexing }: ReplaceOptions,
): Promise<boolean> {
  const number = readNumber(database, 'SELECT max(number) FROM present') + 1;
  // Readers see the old tables until the transaction ends; the new ones use their space.
  dropCatalogs(database);
  const tables = tablesOf(number);
  const version = await fill(createAddItems(database, tables));
  if (version === undefined) return false;
  const total = readNumber(database, `SELECT count(*) FROM ${tables.items}`);
  await runSteps(indexSteps(database, tables, total), onIndexing);
  database.exec(`DROP TABLE ${tables.texts}; DELETE FROM present`);
  database.prepare('INSERT INTO present VALUES (?, ?, ?)').run(number, version, total);
  return true;
}

function readNumber(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0]);
}

function createAddItems(database: DatabaseSync, { items: table, texts }: Tables): AddItems {
  database.exec(
    `CREATE TABLE ${table} (
       id          INTEGER PRIMARY KEY,
       name        TEXT NOT NULL,
       name_key    TEXT NOT NULL,
       category    TEXT NOT NULL,
       brand       TEXT NOT NULL,
       price_cents INTEGER NOT NULL,
       currency    TEXT NOT NULL,
       description TEXT NOT NULL,
       tags        TEXT NOT NULL -- a JSON array
     ) STRICT;
     CREATE TABLE ${texts} (id INTEGER PRIMARY KEY, words TEXT NOT NULL) STRICT`,
  );
  const insertItem = database.prepare(
    `INSERT OR IGNORE INTO ${table} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertText = database.prepare(`INSERT INTO ${texts} VALUES (?, ?)`);
  const tagOf = createTagWords();

  return async (items) => {
    const duplicates = [];
    for (const { line, item } of items) {
      const { id, name, category, brand, priceCents, currency, description, tags } = item;
      const row = [id, name, nameKeyOf(name), category, brand, priceCents, currency, description];
      if (insertItem.run(...row, JSON.stringify(tags)).changes === 0) {
        duplicates.push(duplicateId(line));
        continue;
      }
      const tagWords = [tagOf('category', category), tagOf('brand', brand)];
      insertText.run(id, [...wordsOfItem(item), ...tagWords].join(' '));
    }
    return duplicates;
  };
}
