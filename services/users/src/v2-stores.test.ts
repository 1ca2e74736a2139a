import { startTestPostgres } from '@fw/service/testing/vitest';
import { describe, expect, onTestFinished, test } from 'vitest';

import { openPostgresUserStore } from './store/postgres.ts';
import { openSqliteUserStore } from './store/sqlite.ts';
import type { UserStore } from './store.ts';
import { ADA, createTestApi } from './testing.ts';

const USERS = '/api/v2/users';

const server = startTestPostgres();

const STORES: readonly { name: string; open: () => Promise<UserStore> }[] = [
  { name: 'SQLite', open: async () => openSqliteUserStore(':memory:') },
  {
    name: 'PostgreSQL',
    open: async () => openPostgresUserStore({ url: await server().createDatabase() }),
  },
];

describe.each(STORES)('version 2 with $name', ({ open }) => {
  async function newApi() {
    const store = await open();
    onTestFinished(() => store.close());
    return createTestApi(store);
  }

  test('POST of the e-mail address of another user responds with 409, regardless of case', async () => {
    const { send } = await newApi();
    await send('POST', USERS, ADA);

    const response = await send('POST', USERS, { name: 'Eve', email: 'ADA@Example.com' });

    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ code: 'CONFLICT' });
    expect(await (await send('GET', USERS)).json()).toMatchObject({ data: [{ name: 'Ada' }] });
  });

  test('of concurrent POSTs with the same e-mail address one creates a user, the others get 409', async () => {
    const { send } = await newApi();

    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, at) => send('POST', USERS, { ...ADA, name: `Ada ${at}` })),
    );

    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
  });

  test('the e-mail address of a user is available after the user is deleted or gets another one', async () => {
    const { send } = await newApi();
    await send('POST', USERS, ADA);
    await send('PATCH', `${USERS}/u1`, { email: 'ada@example.org' });

    expect((await send('POST', USERS, ADA)).status).toBe(201);
    await send('DELETE', `${USERS}/u1`);
    const again = await send('POST', USERS, { name: 'Ada', email: 'ada@example.org' });
    expect(again.status).toBe(201);
  });

  test('PATCH to the e-mail address of another user responds with 409, a change of case with 200', async () => {
    const { send } = await newApi();
    await send('POST', USERS, ADA);
    await send('POST', USERS, { name: 'Bob', email: 'bob@example.com' });

    const taken = await send('PATCH', `${USERS}/u2`, { email: 'Ada@example.com' });
    const own = await send('PATCH', `${USERS}/u1`, { email: 'Ada@example.com' });

    expect(taken.status).toBe(409);
    expect(own.status).toBe(200);
    expect(await own.json()).toMatchObject({ data: { email: 'Ada@example.com', version: 2 } });
  });

  test('concurrent POSTs with the same Idempotency-Key create one user and get the same response', async () => {
    const { send } = await newApi();
    const headers = { 'Idempotency-Key': 'k1' };

    const responses = await Promise.all(
      Array.from({ length: 50 }, () => send('POST', USERS, ADA, headers)),
    );

    const bodies = new Set(await Promise.all(responses.map((response) => response.text())));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
    expect(bodies.size).toBe(1);
    const { data } = (await (await send('GET', USERS)).json()) as { data: { id: string }[] };
    expect(data).toHaveLength(1);
    for (const { headers } of responses) {
      expect(headers.get('location')).toBe(`${USERS}/${data[0]?.id}`);
      expect(headers.get('etag')).toBe('"1"');
    }
  });

  test('a repeated Idempotency-Key returns the first response, even if the user was changed or deleted', async () => {
    const { send } = await newApi();
    const headers = { 'Idempotency-Key': 'k1' };
    const first = await (await send('POST', USERS, ADA, headers)).text();
    await send('PATCH', `${USERS}/u1`, { name: 'Ada L.' });
    const changed = await send('POST', USERS, ` ${JSON.stringify(ADA)}`, headers);
    await send('DELETE', `${USERS}/u1`);
    const deleted = await send('POST', USERS, ADA, headers);

    expect([changed.status, deleted.status]).toEqual([201, 201]);
    expect(await changed.text()).toBe(first);
    expect(await deleted.text()).toBe(first);
    expect(await (await send('GET', USERS)).json()).toMatchObject({ data: [] });
  });

  test('an Idempotency-Key that was used with another body responds with 422', async () => {
    const { send } = await newApi();
    const headers = { 'Idempotency-Key': 'k1' };
    await send('POST', USERS, ADA, headers);

    const response = await send('POST', USERS, { ...ADA, name: 'Eve' }, headers);

    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: 'UNPROCESSABLE_CONTENT' });
  });

  test('a rejected POST does not use up its Idempotency-Key', async () => {
    const { send } = await newApi();
    const headers = { 'Idempotency-Key': 'k1' };
    await send('POST', USERS, ADA);

    const rejected = await send('POST', USERS, { ...ADA, name: 'Eve' }, headers);
    const repaired = await send('POST', USERS, { name: 'Eve', email: 'eve@example.com' }, headers);

    expect([rejected.status, repaired.status]).toEqual([409, 201]);
  });

  test('If-Match with the current ETag permits a change; others get 412, malformed values 400', async () => {
    const { send } = await newApi();
    const outcomes: [tag: string, patched: number, deleted: number][] = [];

    for (const tag of ['"1"', '"7", "1"', '*', '"2"', 'W/"1"', '1', 'w/"1"', '']) {
      const headers = { 'If-Match': tag };
      const created = [];
      for (const name of ['ada', 'bob']) {
        const email = `${name}${outcomes.length}@example.com`;
        created.push(await send('POST', USERS, { name, email }));
      }
      const [ada = '', bob = ''] = created.map(({ headers }) => headers.get('location'));
      const patched = await send('PATCH', String(ada), { name: 'Ada L.' }, headers);
      const deleted = await send('DELETE', String(bob), undefined, headers);
      outcomes.push([tag, patched.status, deleted.status]);

      const isDone = patched.status === 200;
      const name = isDone ? 'Ada L.' : 'ada';
      expect(await (await send('GET', String(ada))).json()).toMatchObject({ data: { name } });
      expect((await send('GET', String(bob))).status).toBe(isDone ? 404 : 200);
    }

    expect(outcomes).toEqual([
      ['"1"', 200, 200],
      ['"7", "1"', 200, 200],
      ['*', 200, 200],
      ['"2"', 412, 412],
      ['W/"1"', 412, 412],
      ['1', 400, 400],
      ['w/"1"', 400, 400],
      ['', 412, 412],
    ]);
  });

  test('concurrent writers that use If-Match lose no update', async () => {
    const { send } = await newApi();
    await send('POST', USERS, { ...ADA, name: '0' });

    /** Increments the number in the name; reads the user again after each 412. */
    const addOne = async () => {
      for (;;) {
        const read = await send('GET', `${USERS}/u1`);
        const { data } = (await read.json()) as { data: { name: string } };
        const patch = { name: String(Number(data.name) + 1) };
        const headers = { 'If-Match': read.headers.get('etag') };
        const { status } = await send('PATCH', `${USERS}/u1`, patch, headers);
        if (status === 200) return;
        expect(status).toBe(412);
      }
    };
    await Promise.all(Array.from({ length: 8 }, addOne));

    const { data } = (await (await send('GET', `${USERS}/u1`)).json()) as { data: unknown };
    expect(data).toMatchObject({ name: '8', version: 9 });
  });

  test('of concurrent PATCHes with the same If-Match one gets 200, the others get 412', async () => {
    const { send } = await newApi();
    await send('POST', USERS, ADA);

    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        send('PATCH', `${USERS}/u1`, { name: `Ada ${at}` }, { 'If-Match': '"1"' }),
      ),
    );

    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)]);
  });

  test('pages, search and figures return the stored users', async () => {
    const { send } = await newApi();
    for (const name of ['ada', 'bob', 'cyd']) {
      await send('POST', USERS, { name, email: `${name}@example.com` });
    }

    const page = (await (await send('GET', `${USERS}?limit=2`)).json()) as {
      meta: { nextCursor: string };
    };
    const next = await send('GET', `${USERS}?limit=2&cursor=${page.meta.nextCursor}`);
    const found = await send('GET', `${USERS}?email=BOB%40example.com`);
    const figures = await send('GET', `${USERS}/figures?days=1`);

    expect(await next.json()).toMatchObject({ data: [{ name: 'cyd' }], meta: { limit: 2 } });
    expect(await found.json()).toMatchObject({ data: [{ name: 'bob' }] });
    expect(await figures.json()).toEqual({
      data: {
        total: 3,
        byDay: [{ date: '2026-11-21', count: 3 }],
        byDomain: [{ domain: 'example.com', count: 3 }],
      },
    });
  });
});
