import assert from 'node:assert/strict';

import { type Api, type Json, readJson, readNothing, readProblem } from '../contract/api.ts';
import { type Check, check } from '../contract/check.ts';

const USERS = '/api/v2/users';

/** Version 2 of the users, as a client uses it. */
export const usersChecks: readonly Check<Api>[] = [
  check('users v2: a user is created, read, changed and deleted by its address', async (api) => {
    const { url, user, etag } = await createUser(api, newUser());

    const read = await api.get(url);
    assert.equal(read.headers.get('etag'), etag);
    assert.deepEqual((await readJson(read)).data, user);
    const patched = await api.send('PATCH', url, { name: 'Ada Lovelace' }, { 'if-match': etag });
    assert.notEqual(patched.headers.get('etag'), etag);
    const { data } = await readJson(patched);
    assert.deepEqual([data.name, data.email], ['Ada Lovelace', user.email]);
    assert.deepEqual(await readJson(await api.send('DELETE', url)), { success: true });
    await readProblem(await api.get(url), 404, 'NOT_FOUND');
  }),
  check('users v2: a client that has the present state is answered 304', (api) =>
    withUser(api, async ({ url, etag }) => {
      const response = await api.get(url, { 'if-none-match': etag });

      assert.equal(response.headers.get('etag'), etag);
      await readNothing(response, 304);
    }),
  ),
  check('users v2: of ten writers of one state one writes, and nine are answered 412', (api) =>
    withUser(api, async ({ url, etag }) => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          api.send('PATCH', url, { name: `Writer ${index}` }, { 'if-match': etag }),
        ),
      );

      const winner = answers.find(({ status }) => status === 200);
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [
        200,
        ...Array.from({ length: 9 }, () => 412),
      ]);
      assert.ok(winner);
      assert.deepEqual(await readJson(await api.get(url)), await readJson(winner));
    }),
  ),
  check('users v2: a key that comes ten times at once creates one user', async (api) => {
    const input = newUser();
    const key = { 'idempotency-key': crypto.randomUUID() };

    const answers = await Promise.all(
      Array.from({ length: 10 }, () => api.send('POST', USERS, input, key)),
    );
    const users = await Promise.all(answers.map(async (answer) => await readJson(answer, 201)));
    const other = await api.send('POST', USERS, { ...input, name: 'Grace' }, key);
    await api.send('DELETE', `${USERS}/${users[0].data.id}`);

    assert.equal(new Set(users.map(({ data }) => data.id)).size, 1);
    assert.equal(other.status, 422);
  }),
  check('users v2: an address that is taken, whatever its case, is answered 409', (api) =>
    withUser(api, async ({ user }) => {
      const input = { name: 'Other', email: user.email.toUpperCase() };

      await readProblem(await api.send('POST', USERS, input), 409, 'CONFLICT');
      const found = await readJson(await api.get(`${USERS}?email=${input.email}`));
      assert.deepEqual(found.data, [user]);
    }),
  ),
  check('users v2: each page leads to the next, and a made-up cursor is answered 400', (api) =>
    withUser(api, () =>
      withUser(api, async () => {
        const first = await api.get(`${USERS}?limit=1`);
        const next = nextPage(first);
        const second = await readJson(await api.get(next));

        assert.notEqual(second.data[0].id, (await readJson(first)).data[0].id);
        await readProblem(await api.get(`${USERS}?cursor=made-up`), 400, 'BAD_REQUEST');
      }),
    ),
  ),
  check('users v2: what is wrong with a body is told, field by field', async (api) => {
    const response = await api.send('POST', USERS, { name: '', email: 'nowhere' });

    const problem = await readProblem(response, 400, 'VALIDATION_FAILED');
    assert.deepEqual(problem.errors.map(({ pointer }: Json) => pointer).toSorted(), [
      '/email',
      '/name',
    ]);
  }),
  check('users v2: who takes no JSON is answered 406', async (api) => {
    const response = await api.get(USERS, { accept: 'text/csv' });

    await readProblem(response, 406, 'NOT_ACCEPTABLE');
  }),
];

interface Created {
  readonly url: string;
  readonly etag: string;
  readonly user: Json;
}

function newUser() {
  return { name: 'Ada', email: `smoke-${crypto.randomUUID()}@example.org` };
}

async function createUser(api: Api, input: object): Promise<Created> {
  const response = await api.send('POST', USERS, input);
  const { data: user } = await readJson(response, 201);
  const url = `${USERS}/${user.id}`;
  assert.equal(response.headers.get('location'), url);
  const etag = response.headers.get('etag') ?? '';
  assert.match(etag, /^"[^"]+"$/);
  return { url, etag, user };
}

/** Creates a user for `work`, and deletes it whatever comes of it. */
async function withUser(api: Api, work: (created: Created) => Promise<void>): Promise<void> {
  const created = await createUser(api, newUser());
  try {
    await work(created);
  } finally {
    await api.send('DELETE', created.url);
  }
}

/** Where `Link` says that the next page is, relative to the address of all. */
export function nextPage(response: Response): string {
  const [, url = ''] = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
  assert.match(url, /^\/api\/v2\//, 'Link leads to the next page');
  return url;
}
