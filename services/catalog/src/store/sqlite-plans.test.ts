import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { newFolder } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

import { ORDERS } from '../item.ts';
import type { CatalogStore, PageOptions } from '../store.ts';
import { importText, itemOf, newSqliteDatabase, toLines } from '../testing.ts';
import { createSqliteCatalogStore } from './sqlite.ts';

/** 17,000 items: the first 11,000 are cheaper than the others. */
const ITEMS = Array.from({ length: 17_000 }, (_, at) =>
  itemOf(at + 1, { priceCents: at < 11_000 ? 100 : 200, description: 'Boils.', tags: [] }),
);

async function newStore() {
  const file = join(newFolder(), 'catalog.db');
  await importText(newSqliteDatabase(file), toLines(ITEMS));
  const database = new DatabaseSync(file);
  const statements = new Set<string>();
  const prepare = database.prepare.bind(database);
  database.prepare = (sql) => {
    statements.add(sql);
    return prepare(sql);
  };
  const store = createSqliteCatalogStore(database, { timeoutMs: 1_000 });
  onTestFinished(() => store.close());
  return {
    store,
    /** The query plans of the statements since the last call. */
    plans() {
      const asked = [...statements];
      statements.clear();
      return asked.map((sql) =>
        prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all()
          .map(({ detail }) => String(detail))
          .join('\n'),
      );
    },
  };
}

const PAGE: PageOptions = { filter: {}, order: 'id', isDescending: false, limit: 20 };

async function readAll(store: CatalogStore, query: Partial<PageOptions>) {
  const ids: number[] = [];
  let pages = 0;
  let after: PageOptions['after'];
  do {
    const { value } = await store.page({ ...PAGE, limit: 100, ...query, after });
    ids.push(...value.items.map(({ id }) => id));
    after = value.next;
    pages++;
  } while (after && pages < 200);
  return { ids, pages };
}

test('no page reads or sorts the whole catalog', async () => {
  const { store, plans } = await newStore();
  plans();

  for (const order of ORDERS) {
    for (const isDescending of [false, true]) {
      for (const filter of [{}, { category: 'Kitchen' }, { words: ['kettle', 'boils'] }]) {
        const after = [order === 'name' ? 'kettle 5' : 5, 5] as const;
        await store.page({ ...PAGE, filter, order, isDescending, after });
      }
      await store.page({ ...PAGE, filter: { minPrice: 150 }, order, isDescending });
    }
  }
  await store.list({ start: 15_000, limit: 100 });
  await store.find(7);

  const all = plans();
  expect(all.length).toBeGreaterThan(20);
  for (const plan of all) {
    expect(plan).not.toMatch(/TEMP B-TREE/);
    // Scans read a full-text index, or the few rows of a subquery.
    for (const [, scanned] of plan.matchAll(/SCAN (.+)/g)) {
      expect(scanned).toMatch(/^(?:w VIRTUAL TABLE INDEX \d+:\S*[M=<>]\S*|s)$/);
    }
  }
});

test('pages of a price range contain every item once, in any order', {
  timeout: 60_000,
}, async () => {
  const { store } = await newStore();
  const expensive = ITEMS.slice(11_000).map(({ id }) => id);

  const byId = await readAll(store, { filter: { minPrice: 150 } });
  const byIdDown = await readAll(store, { filter: { minPrice: 150 }, isDescending: true });
  const byWord = await readAll(store, { filter: { minPrice: 150, words: ['boils'] } });

  expect(byId.ids).toEqual(expensive);
  // The first page is short: none of the items that it examines matches.
  expect(byId.pages).toBe(61);
  expect(byIdDown.ids).toEqual(expensive.toReversed());
  expect(byWord.ids).toEqual(expensive);
});
