import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { inTransaction, isBusy, openDatabase } from '@fw/service/sqlite';

import {
  type Batch,
  ImportRunningError,
  type ImportState,
  type ImportTarget,
  type Refusal,
} from '../import/target.ts';
import { nameKeyOf, wordsOfItem } from '../words.ts';
import type { SqliteCatalogOptions } from './sqlite.ts';
import { buildSqliteTables } from './sqlite-build.ts';
import { createTagWords, dropTables, FORMAT, tablesOf } from './sqlite-tables.ts';

/**
 * Opens a database file for an import. The catalog comes to be in tables of its own beside the present
 * one's, and takes its place in one transaction.
 *
 * @throws {ImportRunningError} if another process imports into this file
 */
export function openSqliteImport(
  file: string,
  { timeoutMs = 1_000 }: SqliteCatalogOptions = {},
): ImportTarget {
  const unlock = lock(file);
  try {
    const database = openDatabase(file, FORMAT, { timeoutMs });
    database.exec(`PRAGMA busy_timeout = ${timeoutMs}; PRAGMA cache_size = -64000`);
    return createTarget(database, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Holds a lock that ends with the process, however that ends: SQLite's own, on a file beside. */
function lock(file: string): () => void {
  if (file === ':memory:') return () => {};
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(`${file}.import`, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    throw isBusy(error) ? new ImportRunningError({ cause: error }) : error;
  }
  return () => database.close();
}

function createTarget(database: DatabaseSync, unlock: () => void): ImportTarget {
  let begun = begin(database);

  return {
    async readState() {
      return begun.state();
    },
    async startOver() {
      inTransaction(database, () => clear(database));
      begun = begin(database);
    },
    async append(batch) {
      return inTransaction(database, () => begun.append(batch));
    },
    async refusals({ after, limit }) {
      return database
        .prepare('SELECT line, reason FROM refused WHERE line > ? ORDER BY line LIMIT ?')
        .all(after, limit)
        .map(({ line, reason }): Refusal => ({ line: Number(line), reason: String(reason) }));
    },
    async *finish(version) {
      const { number } = begun;
      const { items } = begun.state();
      yield* buildSqliteTables(database, tablesOf(number), items);
      inTransaction(database, () => {
        database.exec(`DROP TABLE ${tablesOf(number).texts}; DELETE FROM present`);
        database.prepare('INSERT INTO present VALUES (?, ?, ?)').run(number, version, items);
        clear(database);
      });
      yield { name: 'done', done: 1 };
      // The log has grown with the catalog; nobody else would make it small again.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },
    async close() {
      database.close();
      unlock();
    },
  };
}

/** Removes all but the present catalog. */
function clear(database: DatabaseSync): void {
  const present = database.prepare('SELECT number FROM present').get()?.number;
  database.exec('DELETE FROM import; DELETE FROM refused; DELETE FROM steps');
  dropTables(database, present === undefined ? [] : [Number(present)]);
}

/** Goes on with the import that was begun, or begins one. */
function begin(database: DatabaseSync) {
  const number = inTransaction(database, () => beginIn(database));
  const { items, texts } = tablesOf(number);
  const insertItem = database.prepare(
    `INSERT OR IGNORE INTO ${items} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertText = database.prepare(`INSERT INTO ${texts} VALUES (?, ?)`);
  const insertRefusal = database.prepare('INSERT OR IGNORE INTO refused VALUES (?, ?)');
  const advance = database.prepare(
    'UPDATE import SET checkpoint = ?, items = items + ?, refused = refused + ?',
  );
  const tagOf = createTagWords();
  const read = database.prepare('SELECT checkpoint, items, refused FROM import');

  function state(): ImportState {
    const { checkpoint, items: kept, refused } = read.get() ?? {};
    return {
      ...(typeof checkpoint === 'string' && { checkpoint }),
      items: Number(kept),
      refused: Number(refused),
    };
  }

  function append(batch: Batch): ImportState {
    let refused = 0;
    const refuse = ({ line, reason }: Refusal) => {
      refused += Number(insertRefusal.run(line, reason).changes);
    };
    for (const refusal of batch.refusals) refuse(refusal);
    let kept = 0;
    for (const { line, item } of batch.items) {
      const { id, name, category, brand, priceCents, currency, description, tags } = item;
      const tagList = JSON.stringify(tags);
      const row = [id, name, nameKeyOf(name), category, brand, priceCents, currency, description];
      if (insertItem.run(...row, tagList).changes === 0) {
        refuse({ line, reason: 'id stands in the file already' });
        continue;
      }
      const tagWords = [tagOf('category', category), tagOf('brand', brand)];
      insertText.run(id, [...wordsOfItem(item), ...tagWords].join(' '));
      kept++;
    }
    advance.run(batch.checkpoint, kept, refused);
    return state();
  }

  return { number, state, append };
}

function beginIn(database: DatabaseSync): number {
  const begun = database.prepare('SELECT number FROM import').get()?.number;
  if (begun !== undefined) return Number(begun);
  clear(database);
  const number = Number(database.prepare('SELECT number FROM present').get()?.number ?? 0) + 1;
  const { items, texts } = tablesOf(number);
  database.exec(
    `CREATE TABLE ${items} (
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
  database.prepare('INSERT INTO import (number) VALUES (?)').run(number);
  return number;
}
