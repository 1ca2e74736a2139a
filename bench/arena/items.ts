import { finished, type Readable } from 'node:stream';
import pg from 'pg';

export interface Item {
  readonly id: number;
  readonly name: string;
  readonly category: string;
  readonly price: number;
  readonly quantity: number;
  readonly active: boolean;
  readonly tags: readonly string[];
  readonly rating: { readonly score: number; readonly count: number };
}

type Query = Readonly<Record<string, unknown>>;

/** The items of the `json` profiles. */
const ITEMS: readonly Item[] = Array.from({ length: 50 }, (_, index) => ({
  id: index + 1,
  name: `Item ${index + 1}`,
  category: ['office', 'garden', 'kitchen', 'music'][index % 4] ?? '',
  price: 10 + ((index * 37) % 400),
  quantity: 1 + ((index * 13) % 40),
  active: index % 3 !== 0,
  tags: ['new', 'light', 'blue', 'used'].slice(index % 3),
  rating: { score: (index * 7) % 50, count: (index * 31) % 200 },
}));

/** The first items with their totals, as objects of their own for each response. */
export function totals(count: unknown, { m }: Query) {
  const items = ITEMS.slice(0, Number(count)).map((item) => {
    return { ...item, total: item.price * item.quantity * readInteger(m, 1) };
  });
  return { items, count: items.length };
}

/** The sum of the query and the body of the `baseline` profiles, as text. */
export function sum({ a, b }: Query, body?: unknown): string {
  return String(readInteger(a, 0) + readInteger(b, 0) + readInteger(body, 0));
}

/** A short body of text. */
export function readText(body: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    body.setEncoding('utf8');
    body.on('data', (chunk: string) => {
      text += chunk;
    });
    body.on('end', () => resolve(text));
    body.on('error', reject);
  });
}

/** The bytes of all uploads, aborted ones included. */
export const received = { bytes: 0 };

/** The length of an upload, as text, once it ends or is aborted. */
export function countBytes(body: Readable): Promise<string> {
  return new Promise((resolve) => {
    let bytes = 0;
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      received.bytes += chunk.length;
    });
    finished(body, () => resolve(String(bytes)));
  });
}

function readInteger(value: unknown, fallback: number): number {
  const number = Number.parseInt(String(value ?? ''), 10);
  return Number.isNaN(number) ? fallback : number;
}

/** The statements that create and fill the table. */
export const SCHEMA = `
  CREATE TABLE items (id integer PRIMARY KEY, name text NOT NULL, category text NOT NULL,
    price integer NOT NULL, quantity integer NOT NULL, active boolean NOT NULL, tags jsonb NOT NULL,
    rating_score integer NOT NULL, rating_count integer NOT NULL);
  INSERT INTO items SELECT id, 'Item ' || id, (ARRAY['office', 'garden', 'kitchen', 'music'])[1 + id % 4],
    1 + id * 37 % 500, id % 40, id % 3 > 0, '["new", "blue"]', id % 50, id % 200
    FROM generate_series(1, 100000) id;
  VACUUM ANALYZE items`.split(';');

const COLUMNS = 'id, name, category, price, quantity, active, tags, rating_score, rating_count';
const STATEMENTS = {
  between: `SELECT ${COLUMNS} FROM items WHERE price BETWEEN $1 AND $2 LIMIT $3`,
  list: `SELECT ${COLUMNS} FROM items WHERE category = $1 ORDER BY id LIMIT $2 OFFSET $3`,
  find: `SELECT ${COLUMNS} FROM items WHERE id = $1`,
  create: `INSERT INTO items VALUES ($1, $2, $3, $4, $5, true, '[]', 0, 0) ON CONFLICT (id) DO UPDATE
    SET name = $2, category = $3, price = $4, quantity = $5 RETURNING ${COLUMNS}`,
  update: `UPDATE items SET name = $2, price = $3, quantity = $4 WHERE id = $1 RETURNING ${COLUMNS}`,
};

const CACHE_MS = 200;

/** The items in PostgreSQL, with the default pool of pg and a cache of single items. */
export function createStore(connectionString: string) {
  const pool = new pg.Pool({ connectionString });
  const cache = new Map<number, { readonly item: Item; readonly untilMs: number }>();

  async function query(name: keyof typeof STATEMENTS, values: unknown[]): Promise<Item[]> {
    const { rows } = await pool.query({ name, text: STATEMENTS[name], values });
    return rows.map(({ rating_score: score, rating_count: count, ...row }) => {
      return { ...row, rating: { score, count } };
    });
  }

  return {
    async between({ min, max, limit }: Query) {
      const count = Math.min(Math.max(readInteger(limit, 50), 1), 50);
      const items = await query('between', [readInteger(min, 10), readInteger(max, 50), count]);
      return { items, count: items.length };
    },
    async list(parameters: Query) {
      const { category = 'office' } = parameters;
      const page = Math.max(readInteger(parameters.page, 1), 1);
      const limit = Math.min(Math.max(readInteger(parameters.limit, 10), 1), 50);
      const items = await query('list', [category, limit, (page - 1) * limit]);
      return { items, total: items.length, page, limit };
    },
    /** The item, and whether it was in the cache. */
    async find(id: number): Promise<{ item?: Item | undefined; cached: 'HIT' | 'MISS' }> {
      const entry = cache.get(id);
      if (entry && entry.untilMs > Date.now()) return { item: entry.item, cached: 'HIT' };
      const [item] = await query('find', [id]);
      if (item) cache.set(id, { item, untilMs: Date.now() + CACHE_MS });
      return { item, cached: 'MISS' };
    },
    async create(body: unknown) {
      const { id, name, category, price, quantity } = body as Item;
      const [item] = await query('create', [id, name, category, price, quantity]);
      cache.delete(id);
      return item;
    },
    async update(id: number, body: unknown) {
      const { name, price, quantity } = body as Item;
      const [item] = await query('update', [id, name, price, quantity]);
      cache.delete(id);
      return item;
    },
  };
}

export type Store = ReturnType<typeof createStore>;
