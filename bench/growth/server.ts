/*
 * Measures one subject with one size: `node --expose-gc server.ts <subject> <size> <rounds> <database>`. Sends its
 * parent the samples of every row.
 */
import { execSync } from 'node:child_process';

import { openSqliteCatalogStore } from '@fw/catalog/src/store/sqlite.ts';
import type { PageOptions } from '@fw/catalog/src/store.ts';
import { nameKeyOf, wordsOf } from '@fw/catalog/src/words.ts';
import { openDatabase } from '@fw/service/sqlite';
import { openSqliteUserStore } from '@fw/users/src/store/sqlite.ts';
import { USERS_FORMAT } from '@fw/users/src/store/sqlite-migrations.ts';
import { createApp, createRouter } from 'fw';

import { MEMORY_STORES } from '../limiter/peers.ts';
import { serveParent, usedCpuMicros, usedMemory } from '../measured.ts';
import { ROUTERS } from '../router/peers.ts';
import { createRoutes, createTargets, KINDS } from '../router/routes.ts';

const WARM_UP_MICROS = 1_000_000;
const ROUND_MICROS = 20_000;
const limit = 20;
const [subject = '', sizeText, rounds, file = ''] = process.argv.slice(2);
const size = Number(sizeText);

/** Each runs one operation, or several and returns how many. */
type Operations = Readonly<Record<string, () => unknown>>;

const SUBJECTS: Readonly<Record<string, () => Promise<Operations>>> = {
  async routes() {
    const routes = createRoutes(size);
    const router = ROUTERS.fw?.create(routes);
    const lookups = KINDS.map((kind) => {
      const targets = createTargets(kind, routes);
      return [kind, () => targets.map(({ path }) => router?.find('GET', path)).length] as const;
    });
    const start = async () => {
      const router = createRouter();
      for (const { path } of routes) router.get(path, () => undefined);
      await createApp().route('/', router).use(router.allowedMethods()).ready();
      return size;
    };
    return { ...Object.fromEntries(lookups), 'start, per route': start };
  },

  async users() {
    const database = openDatabase(file, USERS_FORMAT);
    database.exec(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${size})
       INSERT INTO users (id, name, email, created_at, updated_at)
         SELECT hex(randomblob(16)), n, n || '@' || (n / 100) || '.example', n * 60000, 0 FROM numbers;
       DELETE FROM users WHERE position % 10 = 0`,
    );
    const sql = 'SELECT id, email FROM users ORDER BY random() LIMIT 1000';
    const users = database.prepare(sql).all() as { id: string; email: string }[];
    const store = openSqliteUserStore(file);
    return {
      get: () => store.find(pick(users).id),
      'first page': () => store.page({ limit }),
      'a later page': () => store.page({ limit, after: random(size) }),
      'page by number': () => store.list({ limit, start: random(size * 0.9) }),
      'search by e-mail': () => store.page({ limit, email: pick(users).email }),
    };
  },

  async catalog() {
    const env = { ...process.env, DATABASE_FILE: file };
    const cwd = new URL('../../services/catalog/src', import.meta.url);
    execSync(`node generate-items.ts ${size} | node main.ts import -`, { cwd, env });
    const store = openSqliteCatalogStore(file, { timeoutMs: 1_000 });
    const ids = Array.from({ length: 1_000 }, () => 1 + random(size));
    const found = await Promise.all(ids.map(async (id) => (await store.find(id)).value));
    const items = found.filter((item) => item !== undefined);
    const page = ({ order = 'id', ...query }: Partial<PageOptions>) => {
      const { id, name, priceCents } = pick(items);
      const key = { id, name: nameKeyOf(name), price: priceCents }[order];
      const first = { filter: {}, isDescending: false, after: [key, id] as const, limit };
      return store.page({ ...first, order, ...query });
    };
    const words = () => ({ words: wordsOf(pick(items).name).slice(0, 2) });
    return {
      get: () => store.find(pick(items).id),
      'first page': () => page({ after: undefined }),
      'a later page': () => page({}),
      'a later page by price': () => page({ order: 'price' }),
      'page by number': () => store.list({ limit, start: random(size) }),
      'page of a category': () => page({ filter: { category: pick(items).category } }),
      'search for two words': () => page({ filter: words() }),
      'facets of two words': () => store.facets(words()),
    };
  },

  async limiter() {
    const store = MEMORY_STORES['fw-sliding-window']?.create(size);
    for (let key = 0; key < size; key++) store?.hit(`user:${key}`);
    return { hit: () => void store?.hit(`user:${random(size)}`) };
  },
};

const operations = await SUBJECTS[subject]?.();
if (!operations) throw new Error('Usage: server.ts <subject> <size> <rounds> <database>');
const rows = Object.keys(operations).map((name) => ({ name, samples: [] as number[] }));
for (let round = 0; round <= Number(rounds); round++) {
  for (const { name, samples } of rows) {
    const leastMicros = round === 0 ? WARM_UP_MICROS : ROUND_MICROS;
    const micros = await microsOf(operations[name] ?? (() => 1), leastMicros);
    if (round > 0) samples.push(micros);
  }
}
const { used, rss } = usedMemory();
const results = [
  ...rows.map(({ name, samples }) => ({ row: `${subject}: ${name}, µs`, size, samples })),
  { row: `${subject}: objects and buffers, MB`, size, samples: [used / 1e6] },
  { row: `${subject}: process, MB`, size, samples: [rss / 1e6] },
];
serveParent(results, () => {});

/** CPU time per operation, of operations that need at least `leastMicros`. */
async function microsOf(run: () => unknown, leastMicros: number): Promise<number> {
  const start = usedCpuMicros();
  for (let count = 0, until = 16; ; until *= 2) {
    while (count < until) {
      let result = run();
      if (result instanceof Promise) result = await result; // awaiting a number would cost time
      count += typeof result === 'number' ? result : 1;
    }
    const used = usedCpuMicros() - start;
    if (used >= leastMicros) return used / count;
  }
}

function random(below: number): number {
  return Math.floor(Math.random() * below);
}

function pick<T>(rows: readonly T[]): T {
  return rows[random(rows.length)] as T;
}
