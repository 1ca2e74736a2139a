import { openPostgres, type PostgresOptions, type Row } from '@fw/service/postgres';

import type { ItemFilter } from '../item.ts';
import {
  type CatalogStore,
  type Facets,
  type ItemPage,
  MAX_COUNTED,
  MAX_FIGURES,
  MAX_PAIRS,
  noCatalog,
  type PageQuery,
  type Versioned,
} from '../store.ts';
import { KEY_COLUMNS, MIGRATIONS, sql, type Tables, tablesOf } from './postgres-tables.ts';
import { toFacets, toFigures, toImportedFacets, toItem } from './rows.ts';

export type PostgresCatalogOptions = Omit<PostgresOptions, 'name' | 'migrations'>;

/** The catalog that is read at one moment. */
interface Present {
  readonly number: number;
  readonly version: string;
  readonly total: number;
}

/** A question to the tables of one catalog; its rows are read in the order of `order`. */
interface Question {
  readonly text: string;
  readonly order?: string;
  readonly values?: readonly unknown[];
}

interface Reply extends Present {
  readonly rows: readonly Row[];
}

const COLUMNS = 'id, name, category, brand, price_cents, currency, description, tags';
const READ_PRESENT = sql('SELECT number, version, total FROM catalog_present');

/** So many items may be sorted for one page. */
const FEW = 5_000;

/** How often another catalog may come in between before a request gives up. */
const ATTEMPTS = 5;

/** Reads the catalog from a PostgreSQL database; imports change it meanwhile. */
export function openPostgresCatalogStore({
  url,
  ...options
}: PostgresCatalogOptions): CatalogStore {
  const postgres = openPostgres({
    ...options,
    url: withPlanPerCall(url),
    name: 'catalog',
    migrations: MIGRATIONS,
  });
  let present: Present | undefined;

  async function readPresent(): Promise<Present | undefined> {
    const [row] = await postgres.query(READ_PRESENT);
    return row && toPresent(row);
  }

  /**
   * One statement reads the items and which catalog is the present one, so that both are of one moment.
   * If it is not the catalog whose tables were asked, or they are gone, the question is asked again.
   */
  async function ask(question: (tables: Tables) => Question): Promise<Reply> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      present ??= await readPresent();
      if (!present) break;
      const { text, order = '1', values = [] } = question(tablesOf(present.number));
      const rows = await orNoTable(
        postgres.query(
          sql(
            `SELECT p.number, p.version, p.total, i.* FROM catalog_present p
             LEFT JOIN LATERAL (SELECT true AS is_there, q.* FROM (${text}) q) i ON true
             ORDER BY ${order}`,
          ),
          values,
        ),
      );
      const [first] = rows ?? [];
      const found = first && toPresent(first);
      if (rows && found?.number === present.number) {
        return { ...found, rows: rows.filter(({ is_there }) => is_there === true) };
      }
      present = found;
    }
    throw noCatalog();
  }

  async function hasFew(filter: ItemFilter): Promise<boolean> {
    const { rows } = await ask(({ items }) => {
      const { conditions, values } = conditionsOf(filter);
      const some = `SELECT FROM ${items} ${whereOf(conditions)} LIMIT ${FEW + 1}`;
      return { text: `SELECT count(*) AS found FROM (${some}) s`, values };
    });
    return Number(rows[0]?.found) <= FEW;
  }

  return {
    async list({ start, limit }) {
      const { rows, total } = await ask(({ items }) => ({
        text: `SELECT position, id, name FROM ${items}
               WHERE position > $1::bigint AND position <= $1::bigint + $2::bigint`,
        order: 'i.position',
        values: [start, limit],
      }));
      return {
        items: rows.map(({ id, name }) => ({ id: Number(id), name: String(name) })),
        total,
      };
    },
    async page(query) {
      const isFew = isNarrow(query) && (await hasFew(query.filter));
      const { version, rows } = await ask((tables) => pageQuestion(tables, query, { isFew }));
      return { version, value: toPage(rows, query) };
    },
    async find(id) {
      const { version, rows } = await ask(({ items }) => ({
        text: `SELECT ${COLUMNS} FROM ${items} WHERE id = $1`,
        values: [id],
      }));
      return { version, value: rows[0] && toItem(rows[0]) };
    },
    async facets(filter): Promise<Versioned<Facets>> {
      const isImported = filter.words === undefined && !hasPrice(filter);
      const { version, rows } = await ask((tables) => facetsQuestion(tables, filter));
      return { version, value: isImported ? toImportedFacets(rows) : toFacets(rows) };
    },
    async figures() {
      const { version, total, rows } = await ask(({ figures }) => ({
        text: `SELECT category, currency, items, least, median, most FROM ${figures}
               ORDER BY items DESC, category COLLATE "C", currency COLLATE "C"
               LIMIT ${MAX_FIGURES + 1}`,
        order: 'i.items DESC, i.category COLLATE "C", i.currency COLLATE "C"',
      }));
      return { version, value: toFigures(rows, total) };
    },
    async version() {
      const now = await readPresent();
      if (!now) throw noCatalog();
      return now.version;
    },
    migrate: () => postgres.migrate(),
    async isEmpty() {
      return (await readPresent()) === undefined;
    },
    async check() {
      if (!(await readPresent())) throw noCatalog();
    },
    close: () => postgres.close(),
  };
}

/**
 * Each search is planned for its words: whether it is quicker to walk along an order or to collect
 * what has a word depends on how many have it.
 */
function withPlanPerCall(url: string): string {
  const address = new URL(url);
  const options = [address.searchParams.get('options'), '-c plan_cache_mode=force_custom_plan'];
  address.searchParams.set('options', options.filter((option) => option !== null).join(' '));
  return address.href;
}

/** Resolves with nothing if a table is not there (SQLSTATE 42P01): an import has dropped it. */
async function orNoTable<T>(rows: Promise<T>): Promise<T | undefined> {
  try {
    return await rows;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '42P01') return undefined;
    throw error;
  }
}

/**
 * Whether a filter may leave items that are rare and stand together somewhere in the order. PostgreSQL
 * takes them for spread evenly, and would walk a long way to find them.
 */
function isNarrow({ filter, order }: PageQuery): boolean {
  return filter.words !== undefined || (order !== 'price' && hasPrice(filter));
}

/** A page of the items that a filter leaves; few of them are collected before they are sorted. */
function pageQuestion(
  { items }: Tables,
  query: PageQuery,
  { isFew }: { readonly isFew: boolean },
): Question {
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
    values.push(after.key, after.id);
  }
  values.push(limit + 1);
  const from = isFew ? few : items;
  return {
    text: `SELECT ${COLUMNS}, ${key} AS key
           FROM ${from} ${whereOf(isFew ? places : [...conditions, ...places])}
           ORDER BY ${key} ${direction}, id ${direction} LIMIT $${values.length}`,
    order: `i.key ${direction}, i.id ${direction}`,
    values,
  };
}

function facetsQuestion({ items, facets }: Tables, filter: ItemFilter): Question {
  const { conditions, values } = conditionsOf(filter);
  if (filter.words === undefined && !hasPrice(filter)) {
    return {
      text: `SELECT category, brand, items FROM ${facets} ${whereOf(conditions)}
             ORDER BY items DESC LIMIT ${MAX_PAIRS + 1}`,
      order: 'i.items DESC',
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
  // A search without a word finds nothing, though every item has all of no words.
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

function hasPrice({ minPrice, maxPrice }: ItemFilter): boolean {
  return minPrice !== undefined || maxPrice !== undefined;
}

function toPage(rows: readonly Row[], { order, limit }: PageQuery): ItemPage {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const key = order === 'name' ? String(last?.key) : Number(last?.key);
  return {
    items: rows.slice(0, limit).map(toItem),
    ...(last && { next: { key, id: Number(last.id) } }),
  };
}

function toPresent({ number, version, total }: Row): Present {
  return { number: Number(number), version: String(version), total: Number(total) };
}
