import assert from 'node:assert/strict';

import { test } from 'vitest';

import type { paths } from '../../../services/users/openapi/v1.d.ts';
import { clientOf, type Json, readJson, readNothing, readProblem } from '../requests.ts';
import { readTarget } from '../target.ts';

const USERS = '/api/v1/users';
const USER = '/api/v1/users/{id}';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

const { api } = readTarget();
const client = clientOf<paths>(api.origin);

test('GET /users returns { data: User[], total }', () =>
  withUsers(2, async ([first, second]) => {
    const list = await readJson(await api.get(USERS));

    assert.deepEqual(Object.keys(list), ['data', 'total']);
    assert.equal(list.total, list.data.length);
    const ids = list.data.map(({ id }: Json) => id);
    assert.ok(ids.includes(first.id) && ids.includes(second.id), 'the list contains both');
    for (const user of list.data) assertUser(user);
  }));
test('POST /users returns 201 { data: User } with a random id and both times', async () => {
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
});

for (const input of [
  {},
  { name: 'Ada' },
  { email: 'ada@example.org' },
  { name: '', email: 'ada@example.org' },
  { name: 'Ada', email: '' },
]) {
  test(`POST /users of ${JSON.stringify(input)} returns 400: name and email are required`, async () => {
    const problem = await readProblem(await api.send('POST', USERS, input), 400, 'BAD_REQUEST');

    assert.equal(problem.detail, 'name and email are required');
  });
}

test('POST /users without a body returns 400: name and email are required', async () => {
  const problem = await readProblem(await api.send('POST', USERS), 400, 'BAD_REQUEST');

  assert.equal(problem.detail, 'name and email are required');
});

test('GET /users/:id returns 200 { data: User }', () =>
  withUsers(1, async ([user]) => {
    assert.deepEqual((await client.get(USER, { path: { id: user.id } })).data, { data: user });
  }));
test('PUT /users/:id changes the given fields and keeps the others', () =>
  withUsers(1, async ([user]) => {
    const path = { id: user.id };

    const { data: renamed } = await client.put(USER, { path, body: { name: 'Grace' } });
    const { data: moved } = await client.put(USER, { path, body: { email: 'grace@example.org' } });

    assert.deepEqual(renamed.data, {
      ...user,
      name: 'Grace',
      updatedAt: renamed.data.updatedAt,
    });
    assert.equal(moved.data.name, 'Grace');
    assert.equal(moved.data.email, 'grace@example.org');
    assert.deepEqual((await client.get(USER, { path })).data, moved);
  }));
test('PUT /users/:id with an empty body sets updatedAt to the current time', () =>
  withUsers(1, async ([user]) => {
    const { data: changed } = await client.put(USER, { path: { id: user.id }, body: {} });

    assert.ok(changed.data.updatedAt >= user.updatedAt, 'updatedAt does not go back');
    assert.ok(Math.abs(Date.parse(changed.data.updatedAt) - Date.now()) < 60_000, 'is now');
    assert.equal(changed.data.createdAt, user.createdAt);
  }));
test('DELETE /users/:id returns 204 without a body and removes the user', async () => {
  const [user] = await createUsers(1);
  const url = `${USERS}/${user.id}`;

  await readNothing(await api.send('DELETE', url), 204);

  await readProblem(await api.get(url), 404, 'NOT_FOUND');
  await readProblem(await api.send('DELETE', url), 404, 'NOT_FOUND');
});

for (const method of ['GET', 'PUT', 'DELETE'] as const) {
  test(`${method} of an unknown user returns 404 with the id in the detail`, async () => {
    const id = `nobody-${Date.now()}`;
    const body = method === 'PUT' ? { name: 'Ada' } : undefined;

    const response = await api.send(method, `${USERS}/${id}`, body);

    const problem = await readProblem(response, 404, 'NOT_FOUND');
    assert.ok(problem.detail.includes(id), `"${problem.detail}" names ${id}`);
  });
}

test('GET /users with page or limit returns { data, meta } starting at (page-1)*limit', () =>
  withUsers(5, async () => {
    const { data } = await readJson(await api.get(USERS));

    const second = await readJson(await api.get(`${USERS}?page=2&limit=2`));

    assert.deepEqual(Object.keys(second), ['data', 'meta']);
    assert.deepEqual(Object.keys(second.meta).sort(), ['limit', 'page', 'total']);
    assert.deepEqual(second.data, data.slice(2, 4));
    assert.equal(second.meta.page, 2);
    assert.equal(second.meta.limit, 2);
    assert.ok(second.meta.total >= 5, `total is ${second.meta.total}`);
  }));
test('GET /users uses page 1 or limit 10 if one of them is missing', () =>
  withUsers(1, async () => {
    const byPage = await readJson(await api.get(`${USERS}?page=1`));
    const byLimit = await readJson(await api.get(`${USERS}?limit=1`));

    assert.equal(byPage.meta.limit, 10);
    assert.ok(byPage.data.length <= 10);
    assert.equal(byLimit.meta.page, 1);
    assert.equal(byLimit.data.length, 1);
  }));
test('GET /users of a page past the end has no data', async () => {
  const page = await readJson(await api.get(`${USERS}?page=1000000&limit=100`));

  assert.deepEqual(page.data, []);
});

test('GET /users/:id returns an escaped HTML fragment if Accept prefers HTML', async () => {
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
});

/** Creates users for `work` and deletes them afterwards. */
async function withUsers(count: number, work: (users: Json[]) => Promise<void>): Promise<void> {
  const users = await createUsers(count);
  try {
    await work(users);
  } finally {
    for (const { id } of users) await client.delete(USER, { path: { id } });
  }
}

async function createUsers(count: number): Promise<Json[]> {
  const users = [];
  for (let number = 1; number <= count; number++) {
    const body = { name: `Contract ${number}`, email: `contract-${number}@example.org` };
    const { data } = await client.post(USERS, { body });
    users.push(data.data);
  }
  return users;
}

/** Asserts that a user has exactly its fields. */
function assertUser(user: Json): void {
  assert.deepEqual(Object.keys(user).sort(), ['createdAt', 'email', 'id', 'name', 'updatedAt']);
  for (const field of ['id', 'name', 'email']) assert.equal(typeof user[field], 'string', field);
  for (const field of ['createdAt', 'updatedAt']) assert.match(user[field], DATE_TIME, field);
}
