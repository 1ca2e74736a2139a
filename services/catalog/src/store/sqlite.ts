import type { DatabaseSync } from 'node:sqlite';

import type { Slice } from '@fw/service';
import { appliedMigrations, inSnapshot, openDatabase, orUnavailable } from '@fw/service/sqlite';

import { hasPrice, type ItemFilter, isSearch } from '../item.ts';
import {
  type CatalogStore,
  type Facets,
  type Figures,
  type ItemList,
  MAX_CATEGORIES,
  MAX_COUNTED,
  MAX_PAIRS,
  noCatalog,
  type Versioned,
} from '../store.ts';
import { toFacets, toFigures, toItem, toSummary } from './rows.ts';
import { FORMAT, tablesOf } from './sqlite-migrations.ts';
import { type Catalog, ITEM, priceRange, rankQuery, selectPage } from './sqlite-page.ts';

export interface SqliteCatalogOptions {
  /** How long opening and each call wait for a process that locks the file, in ms. */
  readonly timeoutMs: number;
}

/**
 * Opens an SQLite file, which several processes may share, to read the catalog.
 *
 * @throws {ServiceUnavailableError} naming the file, if another process locks it longer than `timeoutMs`
 * @throws {Error} naming the file, if it cannot be opened or is not a database of this service
 */
export function openSqliteCatalogStore(
  file: string,
  { timeoutMs }: SqliteCatalogOptions,
): CatalogStore {
  return createSqliteCatalogStore(openDatabase(file, FORMAT, { timeoutMs }), { timeoutMs });
}

/** Reads the catalog from an open database; `close` closes it. */
export function createSqliteCatalogStore(
  database: DatabaseSync,
  { timeoutMs }: SqliteCatalogOptions,
): CatalogStore {
  database.exec(`PRAGMA busy_timeout = ${timeoutMs}`);
  const readPresent = database.prepare('SELECT number, version, total FROM present');
  let statements = createStatements(database);
  let number: number | undefined;

  function read<T>(work: (catalog: Catalog) => T): T {
    return orUnavailable(() =>
      inSnapshot(database, () => {
        const row = readPresent.get();
        if (!row) throw noCatalog();
        // Statements on the tables of the previous catalog are never used again.
        if (number !== row.number) statements = createStatements(database);
        number = Number(row.number);
        const tables = tablesOf(number);
        const version = String(row.version);
        return work({ tables, version, total: Number(row.total), all: statements });
      }),
    );
  }

  function readVersioned<T>(work: (catalog: Catalog) => T): Versioned<T> {
    return read((catalog) => ({ version: catalog.version, value: work(catalog) }));
  }

  return {
    async list(slice) {
      return read((catalog) => listSlice(catalog, slice));
    },
    async page(query) {
      return readVersioned((catalog) => selectPage(catalog, query));
    },
    async find(id) {
      return readVersioned(({ all, tables }) => {
        const [row] = all(`SELECT ${ITEM} FROM ${tables.items} i WHERE id = ?`, id);
        return row && toItem(row);
      });
    },
    async facets(filter) {
      return readVersioned((catalog) => readFacets(catalog, filter));
    },
    async figures() {
      return readVersioned(readFigures);
    },
    async version() {
      const present = orUnavailable(() => readPresent.get());
      return present && String(present.version);
    },
    // Opening the file has migrated it.
    migrate: async () => appliedMigrations(database),
    async check() {
      read(() => {});
    },
    async close() {
      database.close();
    },
  };
}

/** Prepares each statement once. */
function createStatements(database: DatabaseSync): Catalog['all'] {
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  return (sql, ...values) => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement.all(...values);
  };
}

function listSlice({ all, tables, total }: Catalog, { start, limit }: Slice): ItemList {
  const rows = all(
    `SELECT i.id, i.name FROM ${tables.ranks.id} r CROSS JOIN ${tables.items} i ON i.id = r.id
     WHERE r.rank > ? ORDER BY r.rank LIMIT ?`,
    start,
    limit,
  );
  return { items: rows.map(toSummary), total };
}

function readFacets(catalog: Catalog, filter: ItemFilter): Facets {
  if (isSearch(filter)) return countFacets(catalog, filter);
  const { category, brand } = filter;
  const rows = catalog.all(
    `SELECT category, brand, items FROM ${catalog.tables.facets}
     WHERE category = coalesce(?, category) AND brand = coalesce(?, brand)
     ORDER BY items DESC LIMIT ${MAX_PAIRS + 1}`,
    category ?? null,
    brand ?? null,
  );
  return toFacets(rows, filter);
}

/** Counts in the order of prices if there is a price range, because its items are adjacent in that order. */
function countFacets(catalog: Catalog, filter: ItemFilter): Facets {
  const order = hasPrice(filter) ? 'price' : 'id';
  const { from, where, values } = rankQuery(catalog, filter, {
    order,
    ...priceRange(catalog, filter),
  });
  const rows = catalog.all(
    `SELECT f.category, f.brand, s.items
     FROM (SELECT pair, count(*) AS items
           FROM (SELECT r.pair FROM ${from} WHERE ${where} LIMIT ?) GROUP BY pair) s
     CROSS JOIN ${catalog.tables.facets} f ON f.pair = s.pair`,
    ...values,
    MAX_COUNTED,
  );
  return toFacets(rows, filter);
}

function readFigures({ all, tables, total }: Catalog): Figures {
  const rows = all(
    `SELECT category, currency, items, least, median, most FROM ${tables.figures}
     ORDER BY items DESC, category, currency LIMIT ${MAX_CATEGORIES + 1}`,
  );
  return toFigures(rows, total);
}
