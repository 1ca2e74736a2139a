import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';

import { inSnapshot, openDatabase, orUnavailable } from '@fw/service/sqlite';

import type { ItemFilter, Order, Place } from '../item.ts';
import {
  type CatalogStore,
  type Facets,
  type Figures,
  type ItemPage,
  MAX_COUNTED,
  type PageQuery,
  type Slice,
  type Versioned,
} from '../store.ts';
import { sumFacets } from './facets.ts';
import { noCatalog } from './no-catalog.ts';
import { toFigures, toItem, toPair } from './rows.ts';
import { FORMAT, type Tables, tablesOf, tagWord } from './sqlite-tables.ts';

type Row = Record<string, SQLOutputValue>;
type All = (sql: string, ...values: readonly SQLInputValue[]) => Row[];

/** The catalog that is read at one moment. */
interface Present {
  readonly tables: Tables;
  readonly version: string;
  readonly total: number;
  readonly all: All;
}

const COLUMNS = [
  'id',
  'name',
  'category',
  'brand',
  'price_cents',
  'currency',
  'description',
  'tags',
];
const ITEM = COLUMNS.map((column) => `i.${column}`).join(', ');

/**
 * Reads the catalog from an SQLite file, which several processes may share; imports change it
 * meanwhile.
 *
 * @throws {Error} naming the file, if it cannot be opened or holds something else
 */
export function openSqliteCatalogStore(file: string): CatalogStore {
  return createSqliteCatalogStore(openDatabase(file, FORMAT));
}

/** Reads the catalog from a database that is open; closes it in the end. */
export function createSqliteCatalogStore(database: DatabaseSync): CatalogStore {
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
function createStatements(database: DatabaseSync): All {
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

/** The ranks above `above`, up to and with `upTo`. */
interface Stretch {
  readonly above: number;
  readonly upTo: number;
}

function readPage(present: Present, query: PageQuery): ItemPage {
  const { filter, order, isDescending, limit } = query;
  const { items, ranks, words } = present.tables;
  const { above, upTo } = stretchOf(present, query);
  const match = matchOf(filter);
  // In the order of prices the limits are part of the stretch.
  const prices = order === 'price' ? undefined : pricesOf(filter);
  const rank = match === undefined ? 'r.rank' : 'w.rowid';
  const rows = present.all(
    `SELECT ${ITEM}, r.key
     FROM ${match === undefined ? '' : `${words[order]} w CROSS JOIN`} ${ranks[order]} r
     CROSS JOIN ${items} i ON i.id = r.id
     WHERE ${rank} > ? AND ${rank} <= ?
     ${match === undefined ? '' : `AND r.rank = w.rowid AND w.${words[order]} MATCH ?`}
     ${prices ? 'AND i.price_cents BETWEEN ? AND ?' : ''}
     ORDER BY ${rank} ${isDescending ? 'DESC' : 'ASC'} LIMIT ?`,
    above,
    upTo,
    ...(match === undefined ? [] : [match]),
    ...(prices ?? []),
    limit + 1,
  );
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const key = typeof last?.key === 'string' ? last.key : Number(last?.key);
  return {
    items: rows.slice(0, limit).map(toItem),
    ...(last && { next: { key, id: Number(last.id) } }),
  };
}

/** Where the items of a page may stand: behind the page before, and in the order of prices within the limits. */
function stretchOf(present: Present, query: PageQuery): Stretch {
  const { filter, order, isDescending, after } = query;
  const above = [0];
  const upTo = [present.total];
  if (after && isDescending) upTo.push(lastRank(present, order, { place: after, operator: '<' }));
  if (after && !isDescending)
    above.push(lastRank(present, order, { place: after, operator: '<=' }));
  const prices = order === 'price' ? pricesOf(filter) : undefined;
  if (prices) {
    const [least, most] = prices;
    above.push(lastRank(present, order, { place: { key: least, id: 0 }, operator: '<' }));
    const end = { key: most, id: Number.MAX_SAFE_INTEGER };
    upTo.push(lastRank(present, order, { place: end, operator: '<=' }));
  }
  return { above: Math.max(...above), upTo: Math.min(...upTo) };
}

/** The rank of the last item before a place, or at most there; 0 if there is none. */
function lastRank(
  { all, tables }: Present,
  order: Order,
  { place, operator }: { readonly place: Place; readonly operator: '<' | '<=' },
): number {
  const [row] = all(
    `SELECT rank FROM ${tables.ranks[order]} WHERE (key, id) ${operator} (?, ?)
     ORDER BY key DESC, id DESC LIMIT 1`,
    place.key,
    place.id,
  );
  return Number(row?.rank ?? 0);
}

/** The words that an item must have, as FTS5 reads them: quoted, they are nothing but words. */
function matchOf({ words, category, brand }: ItemFilter): string | undefined {
  const wanted = [
    // A search without a word finds what has a word that no item has.
    ...(words?.length === 0 ? [tagWord('brand', '')] : (words ?? [])),
    ...(category === undefined ? [] : [tagWord('category', category)]),
    ...(brand === undefined ? [] : [tagWord('brand', brand)]),
  ];
  return wanted.length === 0 ? undefined : wanted.map((word) => `"${word}"`).join(' ');
}

function pricesOf({ minPrice, maxPrice }: ItemFilter): readonly [number, number] | undefined {
  if (minPrice === undefined && maxPrice === undefined) return undefined;
  return [minPrice ?? 0, maxPrice ?? Number.MAX_SAFE_INTEGER];
}

function countFacets(present: Present, filter: ItemFilter): Facets {
  const { category, brand, words } = filter;
  if (words === undefined && !pricesOf(filter)) {
    const rows = present.all(
      `SELECT category, brand, items FROM ${present.tables.facets}
       WHERE category = coalesce(?, category) AND brand = coalesce(?, brand)`,
      category ?? null,
      brand ?? null,
    );
    return sumFacets(rows.map(toPair), { isExact: true });
  }
  return sumFacets(countSome(present, filter).map(toPair), { isExact: false });
}

/** In the order of prices, in which limits of the price leave items that stand together. */
function countSome(present: Present, filter: ItemFilter): readonly Row[] {
  const { items, ranks, words } = present.tables;
  const { above, upTo } = stretchOf(present, {
    filter,
    order: 'price',
    isDescending: false,
    limit: 0,
  });
  const match = matchOf(filter);
  const some =
    match === undefined
      ? `SELECT rank FROM ${ranks.price} WHERE rank > ? AND rank <= ? LIMIT ?`
      : `SELECT rowid AS rank FROM ${words.price}
         WHERE rowid > ? AND rowid <= ? AND ${words.price} MATCH ? LIMIT ?`;
  return present.all(
    `SELECT i.category, i.brand, count(*) AS items
     FROM (${some}) s CROSS JOIN ${ranks.price} r ON r.rank = s.rank
     CROSS JOIN ${items} i ON i.id = r.id GROUP BY i.category, i.brand`,
    above,
    upTo,
    ...(match === undefined ? [] : [match]),
    MAX_COUNTED,
  );
}

function readFigures({ all, tables, total }: Present): Figures {
  const rows = all(
    `SELECT category, currency, items, least, median, most FROM ${tables.figures}
     ORDER BY items DESC, category, currency`,
  );
  return { total, byCategory: rows.map(toFigures) };
}
