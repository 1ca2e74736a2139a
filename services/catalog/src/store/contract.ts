import { describe, expect, onTestFinished, test } from 'vitest';

import type { Item } from '../item.ts';
import type { CatalogStore } from '../store.ts';

/** The facts that hold for every `CatalogStore`. `open` gives one with these items. */
export function describeCatalogStore(
  name: string,
  open: (items: readonly Item[]) => Promise<CatalogStore>,
): void {
  async function openStore(...ids: readonly number[]): Promise<CatalogStore> {
    const store = await open(ids.map(itemOf));
    onTestFinished(() => store.close());
    return store;
  }

  describe(name, () => {
    test('a store without items lists none and works', async () => {
      const store = await openStore();

      expect(await store.list({ start: 0, limit: 20 })).toEqual({ items: [], total: 0 });
      await expect(store.check()).resolves.toBeUndefined();
    });

    test('list gives id and name, in the order of the ids', async () => {
      const store = await openStore(30, 4, 100);

      expect(await store.list({ start: 0, limit: 20 })).toEqual({
        items: [
          { id: 4, name: 'Kettle 4' },
          { id: 30, name: 'Kettle 30' },
          { id: 100, name: 'Kettle 100' },
        ],
        total: 3,
      });
    });

    test.each([
      [{ start: 0, limit: 2 }, [1, 2]],
      [{ start: 2, limit: 2 }, [3, 4]],
      [{ start: 4, limit: 100 }, [5]],
      [{ start: 5, limit: 1 }, []],
      [{ start: Number.MAX_SAFE_INTEGER, limit: 100 }, []],
    ])('list gives the slice %j and the total of all', async (slice, ids) => {
      const store = await openStore(1, 2, 3, 4, 5);

      const { items, total } = await store.list(slice);

      expect(items.map(({ id }) => id)).toEqual(ids);
      expect(total).toBe(5);
    });

    test('a closed store fails its check', async () => {
      const store = await open([itemOf(1)]);
      await store.close();

      await expect(store.check()).rejects.toThrow();
    });
  });
}

function itemOf(id: number): Item {
  return {
    id,
    name: `Kettle ${id}`,
    category: 'Kitchen',
    brand: 'Brisk',
    priceCents: 4990,
    currency: 'EUR',
    description: 'Boils water.',
    tags: ['tea', 'appliance'],
  };
}
