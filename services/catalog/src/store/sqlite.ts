import type { DatabaseSync } from 'node:sqlite';

import type { Slice } from '@fw/service';
import { inSnapshot, openDatabase, orUnavailable } from '@fw/service/sqlite';

import type { ItemFilter } from '../item.ts';
import {
  type CatalogStore,
  type Facets,
  type Figures,
  MAX_COUNTED,
  MAX_FIGURES,
  MAX_PAIRS,
  noCatalog,
  type Versioned,
} from '../store.ts';
import { sumCountedPairs, sumFacets } from './facets.ts';
import { toFigures, toItem, toPair } from './rows.ts';
import {
  ITEM,
  type Present,
  priceStretch,
  pricesOf,
  type Row,
  rankSql,
  readPage,
} from './sqlite-page.ts';
import { FORMAT, tablesOf } from './sqlite-tables.ts';

/**
 * Reads the catalog from an SQLite file, which several processes may share; imports change it
 * meanwhile.
 *
 * @throws {ServiceUnavailableError} naming the file, if another process has locked it for too long
 * @throws {Error} naming the file, if it cannot be opened or holds something else
 */
export function openSqliteCatalogStore(
  file: string,
  { timeoutMs = 1_000 }: SqliteCatalogOptions = {},
): CatalogStore {
  return createSqliteCatalogStore(openDatabase(file, FORMAT, { timeoutMs }), { timeoutMs });
}

export interface SqliteCatalogOptions {
  /** How long opening, and each call, waits for another process that has locked the file. Default 1 s. */
  readonly timeoutMs?: number;
}

/** Reads the catalog from a database that is open; closes it in the end. */
export function createSqliteCatalogStore(
  database: DatabaseSync,
  { timeoutMs = 1_000 }: SqliteCatalogOptions = {},
): CatalogStore {
  database.exec(`PRAGMA busy_timeout = ${timeoutMs}`);
  const readPresent = database.prepare('SELECT number, version, total FROM present');
  let statements = createStatements(database);
  let number: number | undefined;

  function read<T>(work: (present: Present) => T): T {
    return orUnavailable(() =>
      inSnapshot(database, () => {
        const row = readPresent.get();
        if (!row) throw noCatalog();
        // Statements of the catalog before would keep their place for nothing.
        if (number !== row.number) statements = createStatements(database);
        number = Number(row.number);
        const tables = tablesOf(number);
        const version = String(row.version);
        return work({ tables, version, total: Number(row.total), all: statements });
      }),
    );
  }

  function versioned<T>(work: (present: Present) => T): Versioned<T> {
    return read((present) => ({ version: present.version, value: work(present) }));
  }

  return {
    async list(slice) {
      return read((present) => listSlice(present, slice));
    },
    async page(query) {
      return versioned((present) => readPage(present, query));
    },
    async find(id) {
      return versioned(({ all, tables }) => {
        const [row] = all(`SELECT ${ITEM} FROM ${tables.items} i WHERE id = ?`, id);
        return row && toItem(row);
      });
    },
    async facets(filter) {
      return versioned((present) => countFacets(present, filter));
    },
    async figures() {
      return versioned(readFigures);
    },
    async version() {
      return read(({ version }) => version);
    },
    // Opening has done it.
    async migrate() {},
    async isEmpty() {
      return orUnavailable(() => readPresent.get() === undefined);
    },
    async check() {
      read(() => {});
    },
    async close() {
      database.close();
    },
  };
}

/** Prepares each statement once. */
function createStatements(database: DatabaseSync): Present['all'] {
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  return (sql, ...values) => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement.all(...values);
  };
}

function listSlice({ all, tables, total }: Present, { start, limit }: Slice) {
  const rows = all(
    `SELECT i.id, i.name FROM ${tables.ranks.id} r CROSS JOIN ${tables.items} i ON i.id = r.id
     WHERE r.rank > ? ORDER BY r.rank LIMIT ?`,
    start,
    limit,
  );
  return { items: rows.map(({ id, name }) => ({ id: Number(id), name: String(name) })), total };
}

function countFacets(present: Present, filter: ItemFilter): Facets {
  const { category, brand, words } = filter;
  if (words === undefined && !pricesOf(filter)) {
    const rows = present.all(
      `SELECT category, brand, items FROM ${present.tables.facets}
       WHERE category = coalesce(?, category) AND brand = coalesce(?, brand)
       ORDER BY items DESC LIMIT ${MAX_PAIRS + 1}`,
      category ?? null,
      brand ?? null,
    );
    return sumCountedPairs(rows.map(toPair));
  }
  return sumFacets(countSome(present, filter).map(toPair), { isExact: false });
}

/** Limits of the price leave items that stand together in the order of prices. */
function countSome(present: Present, filter: ItemFilter): readonly Row[] {
  const order = pricesOf(filter) ? 'price' : 'id';
  const { sql, values } = rankSql(present, filter, { order, ...priceStretch(present, filter) });
  return present.all(
    `SELECT f.category, f.brand, s.items
     FROM (SELECT pair, count(*) AS items
           FROM (SELECT r.pair FROM ${sql.from} WHERE ${sql.where} LIMIT ?) GROUP BY pair) s
     CROSS JOIN ${present.tables.facets} f ON f.pair = s.pair`,
    ...values,
    MAX_COUNTED,
  );
}

function readFigures({ all, tables, total }: Present): Figures {
  const rows = all(
    `SELECT category, currency, items, least, median, most FROM ${tables.figures}
     ORDER BY items DESC, category, currency LIMIT ${MAX_FIGURES + 1}`,
  );
  return toFigures(rows, total);
}
