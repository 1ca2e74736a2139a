import { describe, expect, onTestFinished, test } from 'vitest';

import type { UserStore } from '../store.ts';
import type { User } from '../user.ts';

/** The facts that hold for every `UserStore`. `open` gives one without users, each time it is called. */
export function describeUserStore(name: string, open: () => Promise<UserStore>): void {
  async function openStore(...users: readonly User[]): Promise<UserStore> {
    const store = await open();
    onTestFinished(() => store.close());
    for (const user of users) await store.insert(user);
    return store;
  }

  describe(name, () => {
    test('a new store is empty and works', async () => {
      const store = await openStore();

      expect(await store.list()).toEqual({ users: [], total: 0 });
      await expect(store.check()).resolves.toBeUndefined();
    });

    test('find gives what insert was given, to the millisecond', async () => {
      const store = await openStore(ada, bob);

      expect(await store.find('ada')).toEqual(ada);
    });

    test('find tells ids apart by case and gives nothing for an unknown one', async () => {
      const store = await openStore(ada);

      expect(await store.find('ADA')).toBeUndefined();
      expect(await store.find('')).toBeUndefined();
    });

    test.each(['O\'Hara "; DROP TABLE users; --', '<b>&amp;</b>', 'Zoë 李 🙂', ' ', '', '%_'])(
      'a name of %j comes back as it was',
      async (text) => {
        const store = await openStore({ ...ada, name: text });

        expect(await store.find('ada')).toMatchObject({ name: text });
      },
    );

    test('insert rejects a second user with the same id and keeps the first', async () => {
      const store = await openStore(ada);

      await expect(store.insert({ ...bob, id: 'ada' })).rejects.toThrow();
      expect(await store.find('ada')).toEqual(ada);
    });

    test('list keeps the order of creation, whatever was changed or deleted since', async () => {
      const store = await openStore(cyd, ada, bob);

      await store.update('ada', { name: 'Ada L.' }, later);
      await store.delete('cyd');
      await store.insert(cyd);

      const { users, total } = await store.list();
      expect(users.map((user) => user.id)).toEqual(['ada', 'bob', 'cyd']);
      expect(total).toBe(3);
    });

    test.each([
      [{ start: 0, limit: 2 }, ['ada', 'bob']],
      [{ start: 1, limit: 1 }, ['bob']],
      [{ start: 2, limit: 100 }, ['cyd']],
      [{ start: 3, limit: 10 }, []],
      [{ start: Number.MAX_SAFE_INTEGER, limit: 100 }, []],
    ])('list gives the slice %j and the total of all', async (slice, ids) => {
      const store = await openStore(ada, bob, cyd);

      const { users, total } = await store.list(slice);

      expect(users.map((user) => user.id)).toEqual(ids);
      expect(total).toBe(3);
    });

    test('update overwrites what is supplied, and the time of the update', async () => {
      const store = await openStore(ada, bob);

      const updated = await store.update('ada', { email: 'ada@example.org' }, later);

      expect(updated).toEqual({ ...ada, email: 'ada@example.org', updatedAt: later });
      expect(await store.find('ada')).toEqual(updated);
      expect(await store.find('bob')).toEqual(bob);
    });

    test('update overwrites with an empty text too', async () => {
      const store = await openStore(ada);

      expect(await store.update('ada', { name: '' }, later)).toMatchObject({ name: '' });
    });

    test('updates of different fields at once are both kept', async () => {
      const store = await openStore(ada);

      await Promise.all([
        store.update('ada', { name: 'Ada L.' }, later),
        store.update('ada', { email: 'ada@example.org' }, later),
      ]);

      expect(await store.find('ada')).toMatchObject({ name: 'Ada L.', email: 'ada@example.org' });
    });

    test('update and delete of an unknown user change nothing', async () => {
      const store = await openStore(ada);

      expect(await store.update('bob', { name: 'Bob' }, later)).toBeUndefined();
      expect(await store.delete('bob')).toBe(false);
      expect(await store.list()).toEqual({ users: [ada], total: 1 });
    });

    test('a deleted user is gone', async () => {
      const store = await openStore(ada, bob);

      expect(await store.delete('ada')).toBe(true);
      expect(await store.delete('ada')).toBe(false);
      expect(await store.find('ada')).toBeUndefined();
      expect(await store.list()).toEqual({ users: [bob], total: 1 });
    });

    test('a closed store fails its check', async () => {
      const store = await open();
      await store.close();

      await expect(store.check()).rejects.toThrow();
    });
  });
}

const created = new Date('2026-11-21T10:00:00.123Z');
const later = new Date('2026-11-22T08:30:00.456Z');
const [ada, bob, cyd] = ['ada', 'bob', 'cyd'].map((id) => ({
  id,
  name: id.toUpperCase(),
  email: `${id}@example.com`,
  createdAt: created,
  updatedAt: created,
})) as [User, User, User];
