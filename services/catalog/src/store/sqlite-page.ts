import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';

import { hasPrice, type ItemFilter, type Order, type Place } from '../item.ts';
import type { ItemPage, PageOptions } from '../store.ts';
import { KEY_COLUMNS, toPage, toPlace } from './rows.ts';
import { type Tables, tagWord } from './sqlite-migrations.ts';

type Row = Record<string, SQLOutputValue>;

/** The current catalog in one snapshot of the database. */
export interface Catalog {
  readonly tables: Tables;
  readonly version: string;
  readonly total: number;
  /** Runs a statement; returns its rows. */
  readonly all: (sql: string, ...values: readonly SQLInputValue[]) => Row[];
}

/** The ranks above `above`, up to `upTo` inclusive. */
export interface RankRange {
  readonly above: number;
  readonly upTo: number;
}

export const ITEM =
  'i.id, i.name, i.category, i.brand, i.price_cents, i.currency, i.description, i.tags';

/** Maximum number of items that are sorted for one page. */
const MAX_SORTED = 5_000;

/** Maximum number of items that are examined for one page. If few of them match, the page is short. */
const MAX_EXAMINED = 10_000;

/**
 * Reads one page with bounded work. A page is a range of ranks, and the full-text index intersects words,
 * category and brand in the order of the ranks. Only a price range is not a range of ranks in other
 * orders: the items of a narrow one are sorted; for a wide one, a bounded number of items is examined.
 */
export function selectPage(catalog: Catalog, query: PageOptions): ItemPage {
  const { filter, order } = query;
  if (order === 'price' || !hasPrice(filter)) return toPage(readRange(catalog, query), query);
  const prices = priceRange(catalog, filter);
  if (prices.upTo - prices.above <= MAX_SORTED) {
    return toPage(sortRange(catalog, query, prices), query);
  }
  const rows = examineRange(catalog, query);
  const page = toPage(rows, query);
  const last = rows.length > query.limit ? undefined : lastExamined(catalog, query);
  return last ? { ...page, next: toPlace(last, order) } : page;
}

/** Reads the rows of the page, and one more if there are more pages. */
function readRange(catalog: Catalog, query: PageOptions): readonly Row[] {
  const { from, where, rank, values } = queryAfter(catalog, query);
  return catalog.all(
    `SELECT ${ITEM}, r.key FROM ${from} CROSS JOIN ${catalog.tables.items} i ON i.id = r.id
     WHERE ${where} ORDER BY ${rank} ${directionOf(query)} LIMIT ?`,
    ...values,
    query.limit + 1,
  );
}

/** Sorts the few items of a price range by another order. */
function sortRange(catalog: Catalog, query: PageOptions, prices: RankRange): readonly Row[] {
  const { filter, order, after, limit, isDescending } = query;
  const { from, where, values } = rankQuery(catalog, filter, { order: 'price', ...prices });
  const key = `i.${KEY_COLUMNS[order]}`;
  const direction = directionOf(query);
  return catalog.all(
    `SELECT ${ITEM}, ${key} AS key
     FROM ${from} CROSS JOIN ${catalog.tables.items} i ON i.id = r.id
     WHERE ${where} ${after ? `AND (${key}, i.id) ${isDescending ? '<' : '>'} (?, ?)` : ''}
     ORDER BY ${key} ${direction}, i.id ${direction} LIMIT ?`,
    ...values,
    ...(after ?? []),
    limit + 1,
  );
}

/** Reads the items of a price range among the next `MAX_EXAMINED` items. */
function examineRange(catalog: Catalog, query: PageOptions): readonly Row[] {
  const { from, where, rank, values } = queryAfter(catalog, query);
  const direction = directionOf(query);
  return catalog.all(
    `SELECT ${ITEM}, s.key
     FROM (SELECT ${rank} AS rank, r.key, r.id, r.price_cents FROM ${from} WHERE ${where}
           ORDER BY ${rank} ${direction} LIMIT ${MAX_EXAMINED}) s
     CROSS JOIN ${catalog.tables.items} i ON i.id = s.id
     WHERE s.price_cents BETWEEN ? AND ? ORDER BY s.rank ${direction} LIMIT ?`,
    ...values,
    ...pricesOf(query.filter),
    query.limit + 1,
  );
}

/** The last of `MAX_EXAMINED` items; `undefined` if there are fewer. */
function lastExamined(catalog: Catalog, query: PageOptions): Row | undefined {
  const { from, where, rank, values } = queryAfter(catalog, query);
  const [row] = catalog.all(
    `SELECT r.key, r.id FROM ${from} WHERE ${where}
     ORDER BY ${rank} ${directionOf(query)} LIMIT 1 OFFSET ${MAX_EXAMINED - 1}`,
    ...values,
  );
  return row;
}

/** The ranks after the previous page; in the order of prices, within the price range. */
function queryAfter(catalog: Catalog, query: PageOptions) {
  const { filter, order, isDescending, after } = query;
  let { above, upTo } =
    order === 'price' ? priceRange(catalog, filter) : { above: 0, upTo: catalog.total };
  if (after && isDescending) upTo = Math.min(upTo, rankOf(catalog, order, after, '<'));
  if (after && !isDescending) above = Math.max(above, rankOf(catalog, order, after, '<='));
  return rankQuery(catalog, filter, { order, above, upTo });
}

/** The parts of a statement that reads a range of ranks, filtered by words, category and brand. */
export function rankQuery(
  { tables }: Catalog,
  filter: ItemFilter,
  { order, above, upTo }: RankRange & { readonly order: Order },
) {
  const match = matchOf(filter);
  const ranks = `${tables.ranks[order]} r`;
  if (match === undefined) {
    const where = 'r.rank > ? AND r.rank <= ?';
    return { from: ranks, where, rank: 'r.rank', values: [above, upTo] };
  }
  const words = tables.words[order];
  // node:sqlite binds numbers as REAL, which a full-text index does not use as a limit.
  const range = 'w.rowid > CAST(? AS INTEGER) AND w.rowid <= CAST(? AS INTEGER)';
  const where = `${range} AND r.rank = w.rowid AND w.${words} MATCH ?`;
  const from = `${words} w CROSS JOIN ${ranks}`;
  return { from, where, rank: 'w.rowid', values: [above, upTo, match] };
}

/** The ranks of a price range in the order of prices. */
export function priceRange(catalog: Catalog, filter: ItemFilter): RankRange {
  if (!hasPrice(filter)) return { above: 0, upTo: catalog.total };
  const [min, max] = pricesOf(filter);
  return {
    above: rankOf(catalog, 'price', [min, 0], '<'),
    upTo: rankOf(catalog, 'price', [max, Number.MAX_SAFE_INTEGER], '<='),
  };
}

/** The rank of the last item before a place, or at it for `<=`; 0 if there is none. */
function rankOf(
  { all, tables }: Catalog,
  order: Order,
  place: Place,
  operator: '<' | '<=',
): number {
  const [row] = all(
    `SELECT rank FROM ${tables.ranks[order]} WHERE (key, id) ${operator} (?, ?)
     ORDER BY key DESC, id DESC LIMIT 1`,
    ...place,
  );
  return Number(row?.rank ?? 0);
}

/** The full-text query of a filter. Quotes make every word a plain one. */
function matchOf({ words, category, brand }: ItemFilter): string | undefined {
  const required = [
    // An empty list of words matches no item, as this word does.
    ...(words?.length === 0 ? [tagWord('brand', '')] : (words ?? [])),
    ...(category === undefined ? [] : [tagWord('category', category)]),
    ...(brand === undefined ? [] : [tagWord('brand', brand)]),
  ];
  return required.length === 0 ? undefined : required.map((word) => `"${word}"`).join(' ');
}

function pricesOf({ minPrice = 0, maxPrice = Number.MAX_SAFE_INTEGER }: ItemFilter) {
  return [minPrice, maxPrice] as const;
}

function directionOf({ isDescending }: PageOptions): 'ASC' | 'DESC' {
  return isDescending ? 'DESC' : 'ASC';
}
