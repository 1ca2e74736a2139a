import { describe, expect, onTestFinished, test } from 'vitest';

import { MAX_BATCH_LENGTH, MAX_BATCH_USERS } from './store/rows.ts';
import type { UserStore } from './store.ts';
import { userOf } from './testing.ts';
import type { Outcome, User } from './user.ts';

/** Tests that apply to every `UserStore`. `open` returns a store without users on each call. */
export function describeUserStore(name: string, open: () => Promise<UserStore>): void {
  async function openStore(...users: readonly User[]): Promise<UserStore> {
    const store = await open();
    onTestFinished(() => store.close());
    for (const user of users) await store.insert(user);
    return store;
  }

  describe(name, () => {
    test('a new store is empty and passes its check', async () => {
      const store = await openStore();

      expect(await store.list()).toEqual({ users: [], total: 0 });
      await expect(store.check()).resolves.toBeUndefined();
    });

    test('find returns the user with exactly this id, with times to the millisecond', async () => {
      const exact = { ...ada, createdAt: new Date('2026-11-21T10:00:00.123Z') };
      const store = await openStore(exact, bob);

      expect(await store.find('ada')).toEqual(exact);
      expect(await store.find('ADA')).toBeUndefined();
      expect(await store.find('')).toBeUndefined();
    });

    test.each(['O\'Hara "; DROP TABLE users; --', '<b>&amp;</b>', 'Zoë 李 🙂', ' ', '', '%_'])(
      'a name of %j is stored unchanged',
      async (text) => {
        const store = await openStore({ ...ada, name: text });

        expect(await store.find('ada')).toMatchObject({ name: text });
      },
    );

    test('the longest e-mail address is stored unchanged and distinguished from similar ones', async () => {
      const long = '🙂'.repeat(253);
      const store = await openStore(
        ada,
        { ...bob, email: `${long}b` },
        { ...cyd, email: `${long}🙂` },
      );

      await store.update('ada', { email: `${long}a` }, atLater);

      expect(await store.find('cyd')).toMatchObject({ email: `${long}🙂` });
      for (const [id, email] of [
        ['bob', `${long}B`],
        ['cyd', `${long}🙂`],
        ['ada', `${long}A`],
      ] as const) {
        const { users } = await store.page({ limit: 9, email });
        expect(users.map((user) => user.id)).toEqual([id]);
      }
    });

    test('insert rejects a second user with the same id and does not change the first', async () => {
      const store = await openStore(ada);

      await expect(store.insert({ ...bob, id: 'ada' })).rejects.toThrow();
      expect(await store.find('ada')).toEqual(ada);
    });

    test('list returns users in the order of creation, regardless of changes and deletions', async () => {
      const store = await openStore(cyd, ada, bob);

      await store.update('ada', { name: 'Ada L.' }, atLater);
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
    ])('list returns the slice %j and the total number of users', async (slice, ids) => {
      const store = await openStore(ada, bob, cyd);

      const { users, total } = await store.list(slice);

      expect(users.map((user) => user.id)).toEqual(ids);
      expect(total).toBe(3);
    });

    describe('a batch has a maximum size, and the next one continues after it', () => {
      test.each([
        ['up to', 0, [37]],
        ['not more than', 1, [36, 1]],
      ])(
        'page returns %s MAX_BATCH_LENGTH of names and e-mail addresses',
        async (_, extra, sizes) => {
          const lengths = [...Array<number>(36).fill(908), MAX_BATCH_LENGTH - 36 * 908 + extra];
          const users = lengths.map((length, at) => ({
            ...ada,
            id: `u${at}`,
            name: 'a'.repeat(length - ada.email.length),
          }));
          const store = await openStore(...users);

          const first = await store.page({ limit: 100, email: ada.email });
          const pages =
            first.next === undefined ? [] : [await store.page({ limit: 100, after: first.next })];

          expect([first, ...pages].map((page) => page.users.length)).toEqual(sizes);
          expect([first, ...pages].flatMap((page) => page.users)).toEqual(users);
        },
      );

      test('list and page return at most MAX_BATCH_USERS users', async () => {
        const users = Array.from({ length: MAX_BATCH_USERS + 1 }, (_, at) => ({
          ...ada,
          id: `u${at}`,
        }));
        const store = await openStore();
        await Promise.all(users.map((user) => store.insert(user)));

        const first = await store.list();
        const page = await store.page({ limit: 1_000 });
        const rest = await store.page({ limit: 1_000, after: first.next });

        expect(first).toMatchObject({ total: users.length, next: expect.any(Number) });
        expect(first.users).toHaveLength(MAX_BATCH_USERS);
        expect(page).toEqual({ users: first.users, next: first.next });
        expect(rest.next).toBeUndefined();
        const ids = [first, rest].flatMap((page) => page.users.map(({ id }) => id));
        expect(ids.sort()).toEqual(users.map(({ id }) => id).sort());
      });
    });

    test('update changes the supplied fields and updatedAt', async () => {
      const store = await openStore(ada, bob);

      const updated = await store.update('ada', { email: 'ada@example.org' }, atLater);

      expect(updated).toEqual({ ...ada, email: 'ada@example.org', updatedAt: later, version: 2 });
      expect(await store.find('ada')).toEqual(updated);
      expect(await store.find('bob')).toEqual(bob);
    });

    test('update without uniqueEmail accepts the e-mail address of another user', async () => {
      const store = await openStore(ada, bob);

      const updated = await store.update('bob', { name: '', email: ada.email }, atLater);

      expect(updated).toMatchObject({ id: 'bob', name: '', email: ada.email, version: 2 });
    });

    test('concurrent updates of different fields are both stored', async () => {
      const store = await openStore(ada);

      await Promise.all([
        store.update('ada', { name: 'Ada L.' }, atLater),
        store.update('ada', { email: 'ada@example.org' }, atLater),
      ]);

      expect(await store.find('ada')).toMatchObject({ name: 'Ada L.', email: 'ada@example.org' });
    });

    test('delete removes the user', async () => {
      const store = await openStore(ada, bob);

      expect(await store.delete('ada')).toEqual(ada);
      expect(await store.delete('ada')).toBe('missing');
      expect(await store.find('ada')).toBeUndefined();
      expect(await store.list()).toEqual({ users: [bob], total: 1 });
    });

    describe('page', () => {
      test('returns users in the order of creation, and where to continue if there are more', async () => {
        const store = await openStore(cyd, ada, bob);

        const first = await store.page({ limit: 2 });
        const second = await store.page({ limit: 2, after: first.next });

        expect(first).toEqual({ users: [cyd, ada], next: expect.any(Number) });
        expect(second).toEqual({ users: [bob] });
      });

      test('continues after a deleted user and skips no user', async () => {
        const store = await openStore(cyd, ada, bob);
        const { next } = await store.page({ limit: 1 });

        await store.delete('cyd');

        expect((await store.page({ limit: 1, after: next })).users).toEqual([ada]);
      });

      test.each([
        [0.5, 1],
        [-1e300, 1],
        [1e300, 0],
      ])('after the unknown position %d returns %i users', async (after, count) => {
        const store = await openStore(ada);

        expect((await store.page({ limit: 9, after })).users).toHaveLength(count);
      });

      test('returns all users with an e-mail address, regardless of the case of A to Z', async () => {
        const upperCase = { ...cyd, email: 'ADA@EXAMPLE.com' };
        const umlaut = { ...bob, email: 'ÄDA@example.com' };
        const store = await openStore(ada, umlaut, upperCase);

        const first = await store.page({ limit: 1, email: 'Ada@Example.Com' });
        const second = await store.page({ limit: 1, email: 'ada@example.com', after: first.next });

        expect(first.users).toEqual([ada]);
        expect(second).toEqual({ users: [upperCase] });
        expect((await store.page({ limit: 9, email: 'ÄDA@EXAMPLE.COM' })).users).toEqual([umlaut]);
        expect((await store.page({ limit: 9, email: 'äda@example.com' })).users).toEqual([]);
        expect((await store.page({ limit: 9, email: '%@example.com' })).users).toEqual([]);
      });
    });

    describe('insert with a unique e-mail address', () => {
      test.each([
        ['insert', async (store: UserStore) => store.insert(ada)],
        ['a unique insert', async (store: UserStore) => store.insert(ada, unique)],
        [
          'update',
          async (store: UserStore) => {
            await store.insert({ ...ada, email: 'ada@example.org' });
            await store.update('ada', { email: ada.email }, atLater);
          },
        ],
        [
          'a unique update',
          async (store: UserStore) => {
            await store.insert({ ...ada, email: 'ada@example.org' });
            await store.update('ada', { email: ada.email }, uniqueAtLater);
          },
        ],
      ])('rejects an e-mail address that %s stored, regardless of case', async (_, storeAda) => {
        const store = await openStore();
        await storeAda(store);

        const outcome = await store.insert({ ...bob, email: 'ADA@example.COM' }, unique);

        expect(outcome).toBe('email-taken');
        expect(await store.find('bob')).toBeUndefined();
      });

      test.each([
        ['delete', async (store: UserStore) => store.delete('ada')],
        ['update', async (store: UserStore) => store.update('ada', { email: 'x@y' }, atLater)],
        [
          'a unique update',
          async (store: UserStore) => store.update('ada', { email: 'x@y' }, uniqueAtLater),
        ],
      ])('accepts an e-mail address that %s has freed', async (_, free) => {
        const store = await openStore();
        await store.insert(ada, unique);

        await free(store);

        const outcome = await store.insert({ ...bob, email: ada.email }, unique);
        expect(outcome).toMatchObject({ id: 'bob' });
      });

      test('rejects an e-mail address until the last of several users with it is deleted', async () => {
        const store = await openStore(ada, { ...bob, email: ada.email });
        const insertCyd = () => store.insert({ ...cyd, email: ada.email }, unique);

        await store.delete('ada');
        expect(await insertCyd()).toBe('email-taken');
        await store.delete('bob');
        expect(await insertCyd()).toMatchObject({ id: 'cyd' });
      });

      test('does not prevent insert from storing the same e-mail address again', async () => {
        const store = await openStore();
        await store.insert(ada, unique);

        await store.insert({ ...bob, email: 'ADA@example.com' });
        await store.insert({ ...cyd, email: ada.email });

        expect((await store.page({ limit: 9, email: ada.email })).users).toHaveLength(3);
      });

      test('stores one of 50 concurrent users with the same e-mail address', async () => {
        const store = await openStore();

        const outcomes = await Promise.all(
          Array.from({ length: 50 }, (_, at) => store.insert({ ...ada, id: `ada-${at}` }, unique)),
        );

        expect(outcomes.filter(isUser)).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === 'email-taken')).toHaveLength(49);
        expect((await store.list()).total).toBe(1);
      });
    });

    describe('update with a unique e-mail address', () => {
      test('changes the supplied fields and increments the version', async () => {
        const store = await openStore(ada);

        const once = await store.update(
          'ada',
          { name: 'Ada L.' },
          { ...uniqueAtLater, ifVersion: 1 },
        );
        const twice = await store.update('ada', { email: 'ADA@example.com' }, uniqueAtLater);

        const user = { ...ada, name: 'Ada L.', updatedAt: later, version: 2 };
        expect(once).toEqual(user);
        const changed = { ...user, email: 'ADA@example.com', version: 3 };
        expect(twice).toEqual(changed);
        expect(await store.find('ada')).toEqual(changed);
      });

      test('changes nothing if the user is missing or ifVersion is not the current version', async () => {
        const store = await openStore(ada);
        await store.update('ada', { name: 'Ada L.' }, atLater);
        const present = await store.find('ada');

        expect(await store.update('bob', {}, uniqueAtLater)).toBe('missing');
        expect(await store.update('bob', {}, { ...uniqueAtLater, ifVersion: 1 })).toBe('missing');
        expect(await store.update('ada', {}, { ...uniqueAtLater, ifVersion: 1 })).toBe('stale');
        expect(await store.update('ada', {}, { ...atLater, ifVersion: 1 })).toBe('stale');
        expect(await store.find('ada')).toEqual(present);
      });

      test('rejects the e-mail address of another user, regardless of case', async () => {
        const store = await openStore(ada, bob);

        const outcome = await store.update('bob', { email: 'ADA@example.com' }, uniqueAtLater);

        expect(outcome).toBe('email-taken');
        expect(await store.find('bob')).toEqual(bob);
      });

      test('changes the name of a user whose e-mail address other users have', async () => {
        const store = await openStore(ada, { ...bob, email: ada.email });

        const outcome = await store.update('bob', { name: 'Bob B.' }, uniqueAtLater);

        expect(outcome).toMatchObject({ name: 'Bob B.' });
      });

      test('accepts one of 20 concurrent changes to the same e-mail address', async () => {
        const users = Array.from({ length: 20 }, (_, at) => {
          return { ...ada, id: `u${at}`, email: `u${at}@example.com` };
        });
        const store = await openStore(...users);

        const outcomes = await Promise.all(
          users.map(({ id }) => store.update(id, { email: 'one@example.com' }, uniqueAtLater)),
        );

        expect(outcomes.filter(isUser)).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === 'email-taken')).toHaveLength(19);
        expect((await store.page({ limit: 99, email: 'one@example.com' })).users).toHaveLength(1);
      });

      test('loses no change of two concurrent writers that use ifVersion', async () => {
        const store = await openStore({ ...ada, name: '' });
        const append = async (letter: string) => {
          for (;;) {
            const { name = '', version } = (await store.find('ada')) ?? {};
            const options = { ...uniqueAtLater, ifVersion: version };
            if (isUser(await store.update('ada', { name: name + letter }, options))) return;
          }
        };
        const appendTen = async (letter: string) => {
          for (let times = 0; times < 10; times++) await append(letter);
        };

        await Promise.all([appendTen('a'), appendTen('b')]);

        const letters = [...((await store.find('ada'))?.name ?? '')].sort().join('');
        expect(letters).toBe('aaaaaaaaaabbbbbbbbbb');
      });
    });

    test('delete rejects an ifVersion that is not the current version', async () => {
      const store = await openStore(ada);
      const changed = await store.update('ada', { name: 'Ada L.' }, atLater);

      expect(await store.delete('ada', 1)).toBe('stale');
      expect(await store.delete('ada', 2)).toEqual(changed);
      expect(await store.delete('ada', 2)).toBe('missing');
    });

    describe('figures', () => {
      const user = (id: string, email: string, day: string) => {
        return { ...ada, id, email, createdAt: new Date(`2026-11-${day}Z`) };
      };
      const options = { days: 3, domains: 2, now: new Date('2026-11-21T00:00:00Z') };

      test('count users in total, by day of creation and by e-mail domain', async () => {
        const store = await openStore(
          user('a', 'a@one.example', '18T23:59:59.999'),
          user('b', 'b@ONE.example', '19T00:00:00.000'),
          user('c', 'c@two.example', '21T23:59:59.999'),
          user('d', '"@"@two.example', '21T00:00:00.000'),
          user('e', 'e@three.example', '22T00:00:00.000'),
          user('f', 'none', '17T00:00:00.000'),
          user('g', 'nowhere@', '17T00:00:00.000'),
          user('h', `h@${'🙂'.repeat(252)}`, '17T00:00:00.000'),
        );

        const { byDomain } = await store.figures({ ...options, domains: 9 });
        expect(byDomain).toHaveLength(3);
        expect(await store.figures(options)).toEqual({
          total: 8,
          byDay: [
            { date: '2026-11-19', count: 1 },
            { date: '2026-11-20', count: 0 },
            { date: '2026-11-21', count: 2 },
          ],
          byDomain: [
            { domain: 'one.example', count: 2 },
            { domain: 'two.example', count: 2 },
          ],
        });
      });

      test('include changes and deletions', async () => {
        const store = await openStore(
          user('a', 'a@one.example', '20T10:00:00'),
          user('b', 'b@two.example', '21T10:00:00'),
          user('c', 'c@one.example', '21T10:00:00'),
        );

        await store.update('a', { email: 'a@three.example' }, atLater);
        await store.update('c', { email: 'c@two.example' }, uniqueAtLater);
        await store.delete('b');

        const figures = await store.figures({ ...options, domains: 9 });
        expect(figures.total).toBe(2);
        expect(figures.byDay.map(({ count }) => count)).toEqual([0, 1, 1]);
        expect(figures.byDomain).toEqual([
          { domain: 'three.example', count: 1 },
          { domain: 'two.example', count: 1 },
        ]);
      });

      test('are zero for an empty store', async () => {
        const store = await openStore();

        const { total, byDay, byDomain } = await store.figures(options);

        expect([total, byDay.map(({ count }) => count), byDomain]).toEqual([0, [0, 0, 0], []]);
      });
    });

    test('check rejects after close', async () => {
      const store = await open();
      await store.close();

      await expect(store.check()).rejects.toThrow();
    });
  });
}

/** Users 1 to 67,000 that no migration has counted yet; some are deleted before it, some after it. */
export const manyUsers = {
  /** @param epoch the time 0 in this database */
  insert: (epoch: string) =>
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 67000)
     INSERT INTO users (id, name, email, created_at, updated_at)
     SELECT CAST(n AS text), n, n, ${epoch}, ${epoch} FROM numbers`,
  deleteBefore: 'DELETE FROM users WHERE position BETWEEN 300 AND 900 OR position % 7 = 0',
  deleteAfter: 'DELETE FROM users WHERE position BETWEEN 65000 AND 65999',

  /** Reads them all in slices; the last one is `cyd`. */
  async check(store: UserStore): Promise<void> {
    await store.insert(cyd);
    const ids: string[] = [];
    const { total } = await store.list();
    for (let start = 0; start < total; start += 250) {
      const { users } = await store.list({ start, limit: 250 });
      ids.push(...users.map(({ id }) => id));
    }
    const numbers = Array.from({ length: 67_000 }, (_, index) => index + 1);
    const isDeleted = (n: number) =>
      n % 7 === 0 || (n >= 300 && n <= 900) || (n >= 65_000 && n <= 65_999);
    expect(ids).toEqual([...numbers.filter((n) => !isDeleted(n)).map(String), 'cyd']);
    expect((await store.list({ start: total, limit: 9 })).users).toEqual([]);
  },
};

const later = new Date('2026-11-22T08:30:00.456Z');
const unique = { uniqueEmail: true } as const;
const atLater = { updatedAt: later };
const uniqueAtLater = { ...unique, updatedAt: later };

function isUser(outcome: Outcome): outcome is User {
  return typeof outcome !== 'string';
}

const [ada, bob, cyd] = [userOf('ada'), userOf('bob'), userOf('cyd')];
