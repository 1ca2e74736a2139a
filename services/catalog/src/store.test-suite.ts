import { describe, expect, onTestFinished, test } from 'vitest';
import type { Item, Order } from './item.ts';
import type { CatalogStore, PageOptions } from './store.ts';
import { type CatalogDatabase, importText, itemOf, toLines } from './testing.ts';
import { wordsOf } from './words.ts';

/** The contract of every `CatalogStore` and of imports into it. `create` creates an empty database. */
export function describeCatalogStore(name: string, create: () => Promise<CatalogDatabase>): void {
  async function openStore(items: readonly Item[]): Promise<CatalogStore> {
    const database = await create();
    await importText(database, toLines(items));
    return open(database);
  }

  function open(database: CatalogDatabase): CatalogStore {
    const store = database.openStore();
    onTestFinished(() => store.close());
    return store;
  }

  async function idsOf(
    store: CatalogStore,
    query: Partial<PageOptions>,
  ): Promise<readonly number[]> {
    const all: PageOptions = { filter: {}, order: 'id', isDescending: false, limit: 100 };
    const { value } = await store.page({ ...all, ...query });
    return value.items.map(({ id }) => id);
  }

  describe(name, () => {
    test('a store without a catalog has no version, and check rejects', async () => {
      const store = open(await create());

      expect(await store.version()).toBeUndefined();
      await expect(store.check()).rejects.toMatchObject({ status: 503 });
      await expect(store.list({ start: 0, limit: 20 })).rejects.toMatchObject({ status: 503 });
    });

    test('list returns id and name, sorted by id', async () => {
      const store = await openStore([30, 4, 100].map((id) => itemOf(id)));

      await expect(store.check()).resolves.toBeUndefined();
      expect(await store.list({ start: 0, limit: 20 })).toEqual({
        items: [
          { id: 4, name: 'Kettle 4' },
          { id: 30, name: 'Kettle 30' },
          { id: 100, name: 'Kettle 100' },
        ],
        total: 3,
      });
    });

    test('list returns any slice and the total', async () => {
      const store = await openStore([1, 2, 3, 4, 5].map((id) => itemOf(id)));

      for (const [slice, ids] of [
        [{ start: 0, limit: 2 }, [1, 2]],
        [{ start: 2, limit: 2 }, [3, 4]],
        [{ start: 4, limit: 100 }, [5]],
        [{ start: 5, limit: 1 }, []],
        [{ start: Number.MAX_SAFE_INTEGER, limit: 100 }, []],
      ] as const) {
        const { items, total } = await store.list(slice);
        expect(items.map(({ id }) => id)).toEqual(ids);
        expect(total).toBe(5);
      }
    });

    test('find returns every field of an item, or undefined', async () => {
      const item = itemOf(Number.MAX_SAFE_INTEGER, {
        name: 'Crème "brûlée" 🍮',
        priceCents: Number.MAX_SAFE_INTEGER,
        tags: [],
      });
      const store = await openStore([item]);

      expect((await store.find(item.id)).value).toEqual(item);
      expect((await store.find(1)).value).toBeUndefined();
    });

    const ASSORTED = [
      itemOf(1, { name: 'Zebra', priceCents: 300 }),
      itemOf(2, { name: 'apple', priceCents: 100, category: 'Garden' }),
      itemOf(3, { name: 'Éclair', priceCents: 300, brand: 'Otto' }),
      itemOf(4, { name: 'apple', priceCents: 200, category: 'Garden', brand: 'Otto' }),
      itemOf(5, { name: '!', priceCents: 0 }),
    ];

    const SORTED: readonly (readonly [Order, readonly number[]])[] = [
      ['id', [1, 2, 3, 4, 5]],
      ['name', [5, 2, 4, 3, 1]],
      ['price', [5, 2, 4, 1, 3]],
    ];

    test('page sorts by any order, then by id; names without case and accents', async () => {
      const store = await openStore(ASSORTED);

      for (const [order, ids] of SORTED) {
        expect(await idsOf(store, { order })).toEqual(ids);
        expect(await idsOf(store, { order, isDescending: true })).toEqual(ids.toReversed());
      }
    });

    test('consecutive pages contain each item once, for any filter', async () => {
      const store = await openStore(ASSORTED);
      const filters = [
        {},
        { words: ['boils'] },
        { minPrice: 0 },
        { words: ['tea'], maxPrice: 900 },
      ];

      for (const filter of filters) {
        for (const [order, ids] of SORTED) {
          for (const isDescending of [false, true]) {
            const seen: number[] = [];
            let after: PageOptions['after'];
            do {
              const query = { filter, order, isDescending, after, limit: 2 };
              const { value } = await store.page(query);
              expect(value.items.length).toBeLessThanOrEqual(2);
              seen.push(...value.items.map(({ id }) => id));
              after = value.next;
            } while (after);
            expect(seen).toEqual(isDescending ? ids.toReversed() : ids);
          }
        }
      }
    });

    test('page contains the items that meet every condition of a filter', async () => {
      const store = await openStore(ASSORTED);

      expect(await idsOf(store, { filter: { category: 'Garden' } })).toEqual([2, 4]);
      expect(await idsOf(store, { filter: { category: 'garden' } })).toEqual([]);
      expect(await idsOf(store, { filter: { brand: 'Otto' } })).toEqual([3, 4]);
      expect(await idsOf(store, { filter: { category: 'Garden', brand: 'Otto' } })).toEqual([4]);
      expect(await idsOf(store, { filter: { minPrice: 200 }, order: 'price' })).toEqual([4, 1, 3]);
      expect(await idsOf(store, { filter: { minPrice: 100, maxPrice: 200 } })).toEqual([2, 4]);
      expect(await idsOf(store, { filter: { minPrice: 2, maxPrice: 1 }, order: 'price' })).toEqual(
        [],
      );
      expect(
        await idsOf(store, { filter: { words: ['apple'], brand: 'Otto', maxPrice: 200 } }),
      ).toEqual([4]);
    });

    test('page continues after a place whose item no longer exists', async () => {
      const store = await openStore([1, 3, 5].map((id) => itemOf(id, { priceCents: id })));

      for (const order of ['id', 'price'] as const) {
        const after = [4, 4] as const;
        expect(await idsOf(store, { order, after })).toEqual([5]);
        expect(await idsOf(store, { order, after, isDescending: true })).toEqual([3, 1]);
      }
      const after = ['kettle 4', 4] as const;
      expect(await idsOf(store, { order: 'name', after })).toEqual([5]);
    });

    test('a search finds items that contain all of its words, in any text field', async () => {
      const store = await openStore([
        itemOf(1, { name: 'Café Table', tags: ['oak'] }),
        itemOf(2, { name: 'Garden table', description: 'For the café at home.' }),
        itemOf(3, { name: 'Tablecloth', brand: 'CAFÉ' }),
        itemOf(4, { name: 'ΟΔΟΣ', category: 'Straße' }),
      ]);
      const found = (q: string) => idsOf(store, { filter: { words: wordsOf(q) } });

      expect(await found('cafe')).toEqual([1, 2, 3]);
      expect(await found('TABLE CAFÉ')).toEqual([1, 2]);
      expect(await found('oak, table!')).toEqual([1]);
      expect(await found('tab')).toEqual([]);
      expect(await found('οδος')).toEqual([4]);
      expect(await found('STRASSE')).toEqual([4]);
    });

    test('a search has no syntax', async () => {
      const store = await openStore([itemOf(1, { name: 'AND OR NOT NEAR 7' }), itemOf(2)]);
      const found = (q: string) => idsOf(store, { filter: { words: wordsOf(q) } });

      expect(await found('and')).toEqual([1]);
      expect(await found('OR NOT')).toEqual([1]);
      expect(await found('kettle OR near')).toEqual([]);
      for (const q of ['*', '%', '"', "'", 'name:kettle', '(', 'a & !b', '\\']) {
        expect(await found(q)).toEqual([]);
      }
      expect(await found('^kettle*')).toEqual([2]);
      expect(await found('-boils')).toEqual([1, 2]);
    });

    test('facets count categories and brands, the most frequent first', async () => {
      const store = await openStore(ASSORTED);
      const facets = async (filter: PageOptions['filter']) => (await store.facets(filter)).value;

      const counts = (...pairs: readonly (readonly [string, number])[]) =>
        pairs.map(([value, count]) => ({ value, count }));
      expect(await facets({})).toEqual({
        category: counts(['Kitchen', 3], ['Garden', 2]),
        brand: counts(['Brisk', 3], ['Otto', 2]),
        counted: 5,
        isExact: true,
      });
      expect(await facets({ category: 'Garden' })).toMatchObject({
        category: counts(['Garden', 2]),
        brand: counts(['Brisk', 1], ['Otto', 1]),
      });
      expect(await facets({ words: ['apple'] })).toEqual({
        category: counts(['Garden', 2]),
        brand: counts(['Brisk', 1], ['Otto', 1]),
        counted: 2,
        isExact: true,
      });
      expect(await facets({ minPrice: 300 })).toMatchObject({ counted: 2, isExact: true });
      expect(await facets({ minPrice: 300, brand: 'Otto' })).toMatchObject({ counted: 1 });
      expect(await facets({ brand: 'None' })).toEqual({
        category: [],
        brand: [],
        counted: 0,
        isExact: true,
      });
    });

    test('figures summarize prices by category and currency, the largest first', async () => {
      const store = await openStore([
        itemOf(1, { priceCents: 40 }),
        itemOf(2, { priceCents: 10 }),
        itemOf(3, { priceCents: 30 }),
        itemOf(4, { priceCents: 20 }),
        itemOf(5, { currency: 'SEK', priceCents: 7 }),
        itemOf(6, { category: 'Books', priceCents: 5 }),
        itemOf(7, { category: 'Books', priceCents: 6 }),
        itemOf(8, { category: 'Books', priceCents: 9 }),
      ]);

      const { value } = await store.figures();

      const figures = (category: string, currency: string, rest: readonly number[]) => {
        const [items, minPriceCents, medianPriceCents, maxPriceCents] = rest;
        return { category, currency, items, minPriceCents, medianPriceCents, maxPriceCents };
      };
      expect(value).toEqual({
        total: 8,
        byCategory: [
          figures('Kitchen', 'EUR', [4, 10, 20, 40]),
          figures('Books', 'EUR', [3, 5, 6, 9]),
          figures('Kitchen', 'SEK', [1, 7, 7, 7]),
        ],
        isExact: true,
      });
    });

    test('figures and facets are bounded for any number of categories', async () => {
      const items = Array.from({ length: 10_001 }, (_, at) =>
        itemOf(at + 2, { category: `Category ${at}` }),
      );
      const store = await openStore([itemOf(1, { category: 'Category 10000' }), ...items]);

      const { value: figures } = await store.figures();
      const { value: facets } = await store.facets({});
      const { value: some } = await store.facets({ category: 'Category 7' });

      expect(figures).toMatchObject({ total: 10_002, isExact: false });
      expect(figures.byCategory).toHaveLength(1_000);
      expect(figures.byCategory[0]).toMatchObject({ category: 'Category 10000', items: 2 });
      expect(facets).toMatchObject({ counted: 10_001, isExact: false });
      expect(facets.category[0]).toEqual({ value: 'Category 10000', count: 2 });
      expect(some).toMatchObject({ counted: 1, isExact: true });
    });

    test('an import replaces the catalog for open stores too', async () => {
      const database = await create();
      await importText(database, toLines([itemOf(1), itemOf(2)]));
      const store = open(database);
      const before = await store.version();

      await importText(database, toLines([itemOf(2, { name: 'Teapot' }), itemOf(3)]));

      expect(await idsOf(store, {})).toEqual([2, 3]);
      expect((await store.find(2)).value?.name).toBe('Teapot');
      expect(await idsOf(store, { filter: { words: ['kettle'] } })).toEqual([3]);
      expect((await store.figures()).value.total).toBe(2);
      expect(await store.version()).not.toBe(before);
      expect((await store.page({ ...PAGE, limit: 1 })).version).toBe(await store.version());
    });

    test('readers see an import only when it is complete', async () => {
      const database = await create();
      await importText(database, toLines([itemOf(1)]));
      const store = open(database);
      const items = Array.from({ length: 50 }, (_, at) => ({ line: at + 1, item: itemOf(at + 1) }));
      const totals: number[] = [];
      const look = async () => {
        const { items: page, total } = await store.list({ start: 0, limit: 100 });
        expect(page).toHaveLength(total);
        totals.push(total);
      };

      await database.replace({
        async fill(add) {
          await add(items);
          await look();
          return 'new';
        },
        onIndexing: look,
      });
      await look();

      expect(totals.length).toBeGreaterThan(3);
      expect(new Set(totals.slice(0, -1))).toEqual(new Set([1]));
      expect(totals.at(-1)).toBe(50);
    });

    test('an invalid line is rejected with its number, the others are imported', async () => {
      const database = await create();
      const lines = [itemOf(1), itemOf(2), itemOf(1), itemOf(3)].map((item) => toLines([item]));
      lines.splice(1, 0, 'nothing\n');

      const outcome = await importText(database, lines.join(''));

      expect(outcome).toEqual({
        ending: 'imported',
        items: 3,
        rejected: 2,
        rejections: [
          { line: 2, reason: 'expected a JSON object' },
          { line: 4, reason: 'id is already used in this file' },
        ],
      });
      expect(await idsOf(open(database), {})).toEqual([1, 2, 3]);
    });

    test('an id that another chunk of the file has used is rejected', async () => {
      const database = await create();

      const outcome = await importText(database, [toLines([itemOf(1)]), toLines([itemOf(1)])]);

      expect(outcome).toMatchObject({ ending: 'imported', items: 1, rejected: 1 });
      expect(outcome.rejections.map(({ line }) => line)).toEqual([2]);
    });

    test.for([
      ['an import with too many invalid lines', `${toLines([itemOf(2)])}nothing\n`, 49],
      ['an import of an empty file', '', 100],
      ['an import without a valid line', '{}\n{}\n', 100],
    ] as const)('%s does not change the catalog', async ([_, content, maxRejectedPercent]) => {
      const database = await create();
      await importText(database, toLines([itemOf(1)]));

      const outcome = await importText(database, content, { maxRejectedPercent });

      expect(outcome).toMatchObject({ ending: 'rejected' });
      expect(await idsOf(open(database), {})).toEqual([1]);
    });

    test('an interrupted import changes nothing, and the next one starts again', async () => {
      const database = await create();
      await importText(database, toLines([itemOf(1)]));
      const chunks = [[itemOf(2)], [itemOf(3)]].map(toLines);

      const interrupted = await importText(database, chunks, { signal: AbortSignal.abort() });

      expect(interrupted).toMatchObject({ ending: 'interrupted' });
      expect(await idsOf(open(database), {})).toEqual([1]);
      expect(await importText(database, chunks)).toMatchObject({ ending: 'imported', rejected: 0 });
      expect(await idsOf(open(database), {})).toEqual([2, 3]);
    });

    test('of two concurrent imports the second fails; it succeeds after the first', async () => {
      const database = await create();
      const second = toLines([itemOf(2)]);

      await database.replace({
        async fill(add) {
          await add([{ line: 1, item: itemOf(1) }]);
          await expect(importText(database, second)).rejects.toThrow(
            'another import into this store is running',
          );
          return 'first';
        },
      });

      expect(await idsOf(open(database), {})).toEqual([1]);
      await expect(importText(database, second)).resolves.toMatchObject({ items: 1 });
    });
  });
}

const PAGE: PageOptions = { filter: {}, order: 'id', isDescending: false, limit: 20 };
