import { openPostgres, type PostgresOptions, type Row } from '@fw/service/postgres';

import { hasPrice, type ItemFilter, isSearch } from '../item.ts';
import {
  type CatalogStore,
  MAX_CATEGORIES,
  MAX_COUNTED,
  MAX_PAIRS,
  noCatalog,
  type PageOptions,
} from '../store.ts';
import { MIGRATIONS, sql, type Tables, tablesOf } from './postgres-migrations.ts';
import { KEY_COLUMNS, toFacets, toFigures, toItem, toPage, toSummary } from './rows.ts';

export type PostgresCatalogOptions = Omit<PostgresOptions, 'name' | 'migrations'>;

/** The current catalog: the one that requests read. */
interface Current {
  readonly number: number;
  readonly version: string;
  readonly total: number;
}

/** A query of the tables of one catalog. */
interface CatalogQuery {
  readonly text: string;
  readonly values?: readonly unknown[];
}

interface Result extends Current {
  readonly rows: readonly Row[];
}

const COLUMNS = 'id, name, category, brand, price_cents, currency, description, tags';
const READ_CURRENT = sql('SELECT number, version, total FROM catalog_present');

/** Maximum number of items that are sorted for one page. */
const FEW = 5_000;

/** Maximum number of repetitions of a request because an import replaced the catalog. */
const ATTEMPTS = 5;

/** Opens a store that reads the catalog from PostgreSQL, also while an import replaces it. */
export function openPostgresCatalogStore(options: PostgresCatalogOptions): CatalogStore {
  const postgres = openPostgres({
    ...options,
    name: 'catalog',
    migrations: MIGRATIONS,
    // Each search is planned for its words: whether an ordered index or the index of words is faster
    // depends on the number of items that contain them.
    settings: { plan_cache_mode: 'force_custom_plan' },
  });
  let current: Current | undefined;

  async function readCurrent(): Promise<Current | undefined> {
    const [row] = await postgres.query(READ_CURRENT);
    return row && toCurrent(row);
  }

  /**
   * One statement reads the items and the number of the current catalog, so that both are of the same
   * snapshot. If an import has replaced the catalog or dropped its tables, the query is repeated.
   */
  async function read(queryOf: (tables: Tables) => CatalogQuery): Promise<Result> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      current ??= await readCurrent();
      if (!current) break;
      const { text, values = [] } = queryOf(tablesOf(current.number));
      const rows = await ignoreDroppedTable(
        postgres.query(
          sql(
            `SELECT p.number, p.version, p.total, i.* FROM catalog_present p
             LEFT JOIN (SELECT row_number() OVER () AS row, q.* FROM (${text}) q) i ON true
             ORDER BY i.row`,
          ),
          values,
        ),
      );
      const [first] = rows ?? [];
      const found = first && toCurrent(first);
      if (rows && found?.number === current.number) {
        return { ...found, rows: rows.filter(({ row }) => row !== null) };
      }
      current = found;
    }
    throw noCatalog();
  }

  async function hasFew(filter: ItemFilter): Promise<boolean> {
    const { rows } = await read(({ items }) => {
      const { conditions, values } = conditionsOf(filter);
      const some = `SELECT FROM ${items} ${whereOf(conditions)} LIMIT ${FEW + 1}`;
      return { text: `SELECT count(*) AS found FROM (${some}) s`, values };
    });
    return Number(rows[0]?.found) <= FEW;
  }

  return {
    async list({ start, limit }) {
      const { rows, total } = await read(({ items }) => ({
        text: `SELECT position, id, name FROM ${items}
               WHERE position > $1::bigint AND position <= $1::bigint + $2::bigint ORDER BY position`,
        values: [start, limit],
      }));
      return { items: rows.map(toSummary), total };
    },
    async page(query) {
      const isFew = isNarrow(query) && (await hasFew(query.filter));
      const { version, rows } = await read((tables) => pageStatement(tables, query, { isFew }));
      return { version, value: toPage(rows, query) };
    },
    async find(id) {
      const { version, rows } = await read(({ items }) => ({
        text: `SELECT ${COLUMNS} FROM ${items} WHERE id = $1`,
        values: [id],
      }));
      return { version, value: rows[0] && toItem(rows[0]) };
    },
    async facets(filter) {
      const { version, rows } = await read((tables) => facetsStatement(tables, filter));
      return { version, value: toFacets(rows, filter) };
    },
    async figures() {
      const { version, total, rows } = await read(({ figures }) => ({
        text: `SELECT category, currency, items, least, median, most FROM ${figures}
               ORDER BY items DESC, category COLLATE "C", currency COLLATE "C"
               LIMIT ${MAX_CATEGORIES + 1}`,
      }));
      return { version, value: toFigures(rows, total) };
    },
    async version() {
      return (await readCurrent())?.version;
    },
    migrate: () => postgres.migrate(),
    async check() {
      await postgres.check();
      if (!(await readCurrent())) throw noCatalog();
    },
    close: () => postgres.close(),
  };
}

/** Resolves with `undefined` if an import has dropped a table (SQLSTATE 42P01). */
async function ignoreDroppedTable<T>(rows: Promise<T>): Promise<T | undefined> {
  try {
    return await rows;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '42P01') return undefined;
    throw error;
  }
}

/**
 * Whether the matching items may be few and adjacent in the order. PostgreSQL assumes an even
 * distribution, and would read a large part of the index to find them.
 */
function isNarrow({ filter, order }: PageOptions): boolean {
  return filter.words !== undefined || (order !== 'price' && hasPrice(filter));
}

/** The query of one page; a filter with few matches collects all of them before it sorts. */
function pageStatement(
  { items }: Tables,
  query: PageOptions,
  { isFew }: { readonly isFew: boolean },
): CatalogQuery {
  const { filter, order, isDescending, after, limit } = query;
  const key = KEY_COLUMNS[order];
  const direction = isDescending ? 'DESC' : 'ASC';
  const { conditions, values } = conditionsOf(filter);
  const few = `(WITH few AS MATERIALIZED (SELECT * FROM ${items} ${whereOf(conditions)}) TABLE few) i`;
  const places: string[] = [];
  if (after) {
    const type = order === 'name' ? 'text COLLATE "C"' : 'bigint';
    const at = values.length;
    const place = `($${at + 1}::${type}, $${at + 2}::bigint)`;
    places.push(`(${key}, id) ${isDescending ? '<' : '>'} ${place}`);
    values.push(...after);
  }
  values.push(limit + 1);
  const from = isFew ? few : items;
  return {
    text: `SELECT ${COLUMNS}, ${key} AS key
           FROM ${from} ${whereOf(isFew ? places : [...conditions, ...places])}
           ORDER BY ${key} ${direction}, id ${direction} LIMIT $${values.length}`,
    values,
  };
}

function facetsStatement({ items, facets }: Tables, filter: ItemFilter): CatalogQuery {
  const { conditions, values } = conditionsOf(filter);
  if (!isSearch(filter)) {
    return {
      text: `SELECT category, brand, items FROM ${facets} ${whereOf(conditions)}
             ORDER BY items DESC LIMIT ${MAX_PAIRS + 1}`,
      values,
    };
  }
  return {
    text: `SELECT category, brand, count(*) AS items
           FROM (SELECT category, brand FROM ${items} ${whereOf(conditions)} LIMIT ${MAX_COUNTED}) s
           GROUP BY category, brand`,
    values,
  };
}

function conditionsOf(filter: ItemFilter): {
  readonly conditions: readonly string[];
  readonly values: unknown[];
} {
  const { words, category, brand, minPrice, maxPrice } = filter;
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (condition: string, value: unknown) => {
    values.push(value);
    conditions.push(condition.replace('?', `$${values.length}`));
  };
  // A search without words finds nothing, although `words @> '{}'` matches every item.
  if (words?.length === 0) conditions.push('false');
  else if (words) add('words @> ?::text[]', words);
  if (category !== undefined) add('category = ?', category);
  if (brand !== undefined) add('brand = ?', brand);
  if (minPrice !== undefined) add('price_cents >= ?::bigint', minPrice);
  if (maxPrice !== undefined) add('price_cents <= ?::bigint', maxPrice);
  return { conditions, values };
}

function whereOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

function toCurrent({ number, version, total }: Row): Current {
  return { number: Number(number), version: String(version), total: Number(total) };
}
