import assert from 'node:assert/strict';

import { type Api, type Json, readJson, readNothing, readProblem } from './api.ts';
import { type Check, check } from './check.ts';

const USERS = '/api/v1/users';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** Version 1 of the users, as the specification's table and rules have it. */
export const usersChecks: readonly Check<Api>[] = [
  check('GET /users answers { data: User[], total }', (api) =>
    withUsers(api, 2, async ([first, second]) => {
      const list = await readJson(await api.get(USERS));

      assert.deepEqual(Object.keys(list), ['data', 'total']);
      assert.equal(list.total, list.data.length);
      const ids = list.data.map(({ id }: Json) => id);
      assert.ok(ids.includes(first.id) && ids.includes(second.id), 'the list has both');
      for (const user of list.data) assertUser(user);
    }),
  ),
  check('POST /users answers 201 { data: User } with a random id and both times', async (api) => {
    const input = { name: 'Ada', email: 'ada@example.org' };
    const { data, ...rest } = await readJson(await api.send('POST', USERS, input), 201);
    await readNothing(await api.send('DELETE', `${USERS}/${data.id}`), 204);

    assert.deepEqual(rest, {});
    assertUser(data);
    assert.match(data.id, UUID);
    assert.equal(data.name, input.name);
    assert.equal(data.email, input.email);
    assert.equal(data.updatedAt, data.createdAt);
    assert.ok(Math.abs(Date.parse(data.createdAt) - Date.now()) < 60_000, 'set at creation');
  }),
  ...[
    {},
    { name: 'Ada' },
    { email: 'ada@example.org' },
    { name: '', email: 'ada@example.org' },
    { name: 'Ada', email: '' },
  ].map((input) =>
    check<Api>(
      `POST /users of ${JSON.stringify(input)} answers 400: name and email are required`,
      async (api) => {
        const problem = await readProblem(await api.send('POST', USERS, input), 400, 'BAD_REQUEST');

        assert.equal(problem.detail, 'name and email are required');
      },
    ),
  ),
  check('POST /users without a body answers 400: name and email are required', async (api) => {
    const problem = await readProblem(await api.send('POST', USERS), 400, 'BAD_REQUEST');

    assert.equal(problem.detail, 'name and email are required');
  }),
  check('GET /users/:id answers 200 { data: User }', (api) =>
    withUsers(api, 1, async ([user]) => {
      assert.deepEqual(await readJson(await api.get(`${USERS}/${user.id}`)), { data: user });
    }),
  ),
  check('PUT /users/:id overwrites what is given and keeps the rest', (api) =>
    withUsers(api, 1, async ([user]) => {
      const url = `${USERS}/${user.id}`;

      const renamed = await readJson(await api.send('PUT', url, { name: 'Grace' }));
      const moved = await readJson(await api.send('PUT', url, { email: 'grace@example.org' }));

      assert.deepEqual(renamed.data, {
        ...user,
        name: 'Grace',
        updatedAt: renamed.data.updatedAt,
      });
      assert.equal(moved.data.name, 'Grace');
      assert.equal(moved.data.email, 'grace@example.org');
      assert.deepEqual(await readJson(await api.get(url)), moved);
    }),
  ),
  check('PUT /users/:id replaces updatedAt by the present time, even of nothing', (api) =>
    withUsers(api, 1, async ([user]) => {
      const changed = await readJson(await api.send('PUT', `${USERS}/${user.id}`, {}));

      assert.ok(changed.data.updatedAt >= user.updatedAt, 'updatedAt does not go back');
      assert.ok(Math.abs(Date.parse(changed.data.updatedAt) - Date.now()) < 60_000, 'is now');
      assert.equal(changed.data.createdAt, user.createdAt);
    }),
  ),
  check('DELETE /users/:id answers 204 without a body, and the user is gone', async (api) => {
    const [user] = await createUsers(api, 1);
    const url = `${USERS}/${user.id}`;

    await readNothing(await api.send('DELETE', url), 204);

    await readProblem(await api.get(url), 404, 'NOT_FOUND');
    await readProblem(await api.send('DELETE', url), 404, 'NOT_FOUND');
  }),
  ...(['GET', 'PUT', 'DELETE'] as const).map((method) =>
    check<Api>(`${method} of a user that is not there answers 404, naming the id`, async (api) => {
      const id = `nobody-${Date.now()}`;
      const body = method === 'PUT' ? { name: 'Ada' } : undefined;

      const response = await api.send(method, `${USERS}/${id}`, body);

      const problem = await readProblem(response, 404, 'NOT_FOUND');
      assert.ok(problem.detail.includes(id), `"${problem.detail}" names ${id}`);
    }),
  ),
  check('GET /users with page or limit answers { data, meta } from (page-1)*limit on', (api) =>
    withUsers(api, 5, async () => {
      const { data } = await readJson(await api.get(USERS));

      const second = await readJson(await api.get(`${USERS}?page=2&limit=2`));

      assert.deepEqual(Object.keys(second), ['data', 'meta']);
      assert.deepEqual(Object.keys(second.meta).sort(), ['limit', 'page', 'total']);
      assert.deepEqual(second.data, data.slice(2, 4));
      assert.equal(second.meta.page, 2);
      assert.equal(second.meta.limit, 2);
      assert.ok(second.meta.total >= 5, `total is ${second.meta.total}`);
    }),
  ),
  check('GET /users takes page 1 and limit 10 where one of them is absent', (api) =>
    withUsers(api, 1, async () => {
      const byPage = await readJson(await api.get(`${USERS}?page=1`));
      const byLimit = await readJson(await api.get(`${USERS}?limit=1`));

      assert.equal(byPage.meta.limit, 10);
      assert.ok(byPage.data.length <= 10);
      assert.equal(byLimit.meta.page, 1);
      assert.equal(byLimit.data.length, 1);
    }),
  ),
  check('GET /users of a page past the end has no data', async (api) => {
    const page = await readJson(await api.get(`${USERS}?page=1000000&limit=100`));

    assert.deepEqual(page.data, []);
  }),
  check('GET /users/:id answers an escaped HTML fragment to who accepts it', async (api) => {
    const input = { name: '<b>"Ada" & co</b>', email: 'ada@example.org' };
    const { data } = await readJson(await api.send('POST', USERS, input), 201);
    const url = `${USERS}/${data.id}`;

    const html = await api.get(url, { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' });
    const json = await api.get(url, { accept: 'application/json' });
    const any = await api.get(url, { accept: '*/*' });
    await api.send('DELETE', url);

    assert.equal(html.status, 200);
    assert.match(html.headers.get('content-type') ?? '', /^text\/html\b/);
    assert.match(html.headers.get('vary') ?? '', /\baccept\b/i);
    const text = await html.text();
    assert.ok(!text.includes('<b>') && text.includes('&lt;b&gt;'), 'the name is escaped');
    assert.deepEqual(await readJson(json), { data });
    assert.deepEqual(await readJson(any), { data });
  }),
];

/** Creates users for `work`, and deletes them whatever comes of it. */
async function withUsers(
  api: Api,
  count: number,
  work: (users: Json[]) => Promise<void>,
): Promise<void> {
  const users = await createUsers(api, count);
  try {
    await work(users);
  } finally {
    for (const { id } of users) await api.send('DELETE', `${USERS}/${id}`);
  }
}

async function createUsers(api: Api, count: number): Promise<Json[]> {
  const users = [];
  for (let number = 1; number <= count; number++) {
    const input = { name: `Contract ${number}`, email: `contract-${number}@example.org` };
    const { data } = await readJson(await api.send('POST', USERS, input), 201);
    users.push(data);
  }
  return users;
}

/** Asserts the fields of a user, and that there are no others. */
function assertUser(user: Json): void {
  assert.deepEqual(Object.keys(user).sort(), ['createdAt', 'email', 'id', 'name', 'updatedAt']);
  for (const field of ['id', 'name', 'email']) assert.equal(typeof user[field], 'string', field);
  for (const field of ['createdAt', 'updatedAt']) assert.match(user[field], DATE_TIME, field);
}
