import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';

import type { ItemFilter, Order, Place } from '../item.ts';
import type { ItemPage, PageQuery } from '../store.ts';
import { toItem } from './rows.ts';
import { KEY_COLUMNS, type Tables, tagWord } from './sqlite-tables.ts';

export type Row = Record<string, SQLOutputValue>;

/** The catalog that is read at one moment. */
export interface Present {
  readonly tables: Tables;
  readonly version: string;
  readonly total: number;
  /** The rows that a statement gives. */
  readonly all: (sql: string, ...values: readonly SQLInputValue[]) => Row[];
}

/** Part of a list: the ranks above `above`, up to and with `upTo`. */
export interface Stretch {
  readonly above: number;
  readonly upTo: number;
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
export const ITEM = COLUMNS.map((column) => `i.${column}`).join(', ');

/** At most so many items are sorted for one page. */
const MAX_SORTED = 5_000;

/** At most so many items are looked at for one page; if too few of them fit, the page is a short one. */
const MAX_LOOKED_AT = 10_000;

/**
 * Reads one page. Whatever is asked for, the work is bounded: a page is a stretch of ranks, at any
 * depth; words, category and brand are intersected in the order of the ranks. Only limits of the price
 * fit no other order than that of prices: of a narrow range all items are sorted, in a wide one some
 * items are looked at.
 */
export function readPage(present: Present, query: PageQuery): ItemPage {
  const { filter, order } = query;
  if (order === 'price' || !pricesOf(filter)) return toPage(walk(present, query), query);
  const { above, upTo } = priceStretch(present, filter);
  if (upTo - above <= MAX_SORTED) return toPage(sort(present, query, { above, upTo }), query);

  const rows = walkAndLook(present, query);
  if (rows.length > query.limit) return toPage(rows, query);
  const [last] = candidates(present, query, { columns: 'r.key, r.id', skip: MAX_LOOKED_AT - 1 });
  return { ...toPage(rows, query), ...(last && { next: toPlace(last) }) };
}

/** The items from the place before on, and one more than fit on the page if there are others. */
function walk(present: Present, query: PageQuery): readonly Row[] {
  const { items } = present.tables;
  const { sql, values } = stretchSql(present, query);
  return present.all(
    `SELECT ${ITEM}, r.key FROM ${sql.from} CROSS JOIN ${items} i ON i.id = r.id
     WHERE ${sql.where} ORDER BY ${sql.rank} ${directionOf(query)} LIMIT ?`,
    ...values,
    query.limit + 1,
  );
}

function walkAndLook(present: Present, query: PageQuery): readonly Row[] {
  const { items } = present.tables;
  const { sql, values } = stretchSql(present, query);
  return present.all(
    `SELECT ${ITEM}, s.key
     FROM (SELECT ${sql.rank} AS rank, r.key, r.id, r.price_cents FROM ${sql.from} WHERE ${sql.where}
           ORDER BY ${sql.rank} ${directionOf(query)} LIMIT ${MAX_LOOKED_AT}) s
     CROSS JOIN ${items} i ON i.id = s.id
     WHERE s.price_cents BETWEEN ? AND ? ORDER BY s.rank ${directionOf(query)} LIMIT ?`,
    ...values,
    ...(pricesOf(query.filter) ?? []),
    query.limit + 1,
  );
}

/** One of the items that are looked at: the last. */
function candidates(
  present: Present,
  query: PageQuery,
  { columns, skip }: { readonly columns: string; readonly skip: number },
): readonly Row[] {
  const { sql, values } = stretchSql(present, query);
  return present.all(
    `SELECT ${columns} FROM ${sql.from} WHERE ${sql.where}
     ORDER BY ${sql.rank} ${directionOf(query)} LIMIT 1 OFFSET ${skip}`,
    ...values,
  );
}

/** Sorts the few items within limits of the price by something else. */
function sort(present: Present, query: PageQuery, { above, upTo }: Stretch): readonly Row[] {
  const { filter, order, after, limit } = query;
  const { sql, values } = rankSql(present, filter, { order: 'price', above, upTo });
  const key = `i.${KEY_COLUMNS[order]}`;
  const direction = directionOf(query);
  return present.all(
    `SELECT ${ITEM}, ${key} AS key FROM ${sql.from} CROSS JOIN ${present.tables.items} i ON i.id = r.id
     WHERE ${sql.where} ${after ? `AND (${key}, i.id) ${query.isDescending ? '<' : '>'} (?, ?)` : ''}
     ORDER BY ${key} ${direction}, i.id ${direction} LIMIT ?`,
    ...values,
    ...(after ? [after.key, after.id] : []),
    limit + 1,
  );
}

/** What is behind the page before, and in the order of prices within their limits. */
function stretchSql(present: Present, query: PageQuery) {
  const { filter, order, isDescending, after } = query;
  let { above, upTo } =
    order === 'price' ? priceStretch(present, filter) : { above: 0, upTo: present.total };
  if (after && isDescending) {
    upTo = Math.min(upTo, lastRank(present, order, { place: after, operator: '<' }));
  }
  if (after && !isDescending) {
    above = Math.max(above, lastRank(present, order, { place: after, operator: '<=' }));
  }
  return rankSql(present, filter, { order, above, upTo });
}

/** The parts of a statement that reads a stretch, as far as it has the words, category and brand. */
export function rankSql(
  { tables }: Present,
  filter: ItemFilter,
  { order, above, upTo }: Stretch & { readonly order: Order },
) {
  const match = matchOf(filter);
  const ranks = `${tables.ranks[order]} r`;
  if (match === undefined) {
    const where = 'r.rank > ? AND r.rank <= ?';
    return { sql: { from: ranks, where, rank: 'r.rank' }, values: [above, upTo] };
  }
  const words = tables.words[order];
  // The driver binds numbers as REAL, which the index of words takes for no limit at all.
  const within = 'w.rowid > CAST(? AS INTEGER) AND w.rowid <= CAST(? AS INTEGER)';
  const where = `${within} AND r.rank = w.rowid AND w.${words} MATCH ?`;
  const from = `${words} w CROSS JOIN ${ranks}`;
  return { sql: { from, where, rank: 'w.rowid' }, values: [above, upTo, match] };
}

/** What is within the limits of the price, in the order of prices. */
export function priceStretch(present: Present, filter: ItemFilter): Stretch {
  const prices = pricesOf(filter);
  if (!prices) return { above: 0, upTo: present.total };
  const [least, most] = prices;
  const start = { key: least, id: 0 };
  const end = { key: most, id: Number.MAX_SAFE_INTEGER };
  return {
    above: lastRank(present, 'price', { place: start, operator: '<' }),
    upTo: lastRank(present, 'price', { place: end, operator: '<=' }),
  };
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

export function pricesOf({
  minPrice,
  maxPrice,
}: ItemFilter): readonly [number, number] | undefined {
  if (minPrice === undefined && maxPrice === undefined) return undefined;
  return [minPrice ?? 0, maxPrice ?? Number.MAX_SAFE_INTEGER];
}

function directionOf({ isDescending }: PageQuery): 'ASC' | 'DESC' {
  return isDescending ? 'DESC' : 'ASC';
}

function toPage(rows: readonly Row[], { limit }: PageQuery): ItemPage {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { items: rows.slice(0, limit).map(toItem), ...(last && { next: toPlace(last) }) };
}

function toPlace({ key, id }: Row): Place {
  return { key: typeof key === 'string' ? key : Number(key), id: Number(id) };
}
