import assert from 'node:assert/strict';

import { test } from 'vitest';

import { type Json, readJson, readNothing, readProblem } from '../api.ts';
import { readTarget } from '../target.ts';
import { nextPage } from './next-page.ts';

const USERS = '/api/v2/users';

const { api } = readTarget();

test('users v2: a user is created, read, changed and deleted at its URL', async () => {
  const { url, user, etag } = await createUser(newUser());

  const read = await api.get(url);
  assert.equal(read.headers.get('etag'), etag);
  assert.deepEqual((await readJson(read)).data, user);
  const patched = await api.send('PATCH', url, { name: 'Ada Lovelace' }, { 'if-match': etag });
  assert.notEqual(patched.headers.get('etag'), etag);
  const { data } = await readJson(patched);
  assert.deepEqual([data.name, data.email], ['Ada Lovelace', user.email]);
  assert.deepEqual(await readJson(await api.send('DELETE', url)), { success: true });
  await readProblem(await api.get(url), 404, 'NOT_FOUND');
});

test('users v2: a request with the current ETag returns 304', () =>
  withUser(async ({ url, etag }) => {
    const response = await api.get(url, { 'if-none-match': etag });

    assert.equal(response.headers.get('etag'), etag);
    await readNothing(response, 304);
  }));
test('users v2: of ten concurrent writers of one ETag, one succeeds and nine get 412', () =>
  withUser(async ({ url, etag }) => {
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        api.send('PATCH', url, { name: `Writer ${index}` }, { 'if-match': etag }),
      ),
    );

    const winner = responses.find(({ status }) => status === 200);
    assert.deepEqual(responses.map(({ status }) => status).toSorted(), [
      200,
      ...Array.from({ length: 9 }, () => 412),
    ]);
    assert.ok(winner);
    assert.deepEqual(await readJson(await api.get(url)), await readJson(winner));
  }));
test('users v2: ten concurrent requests with one idempotency key create one user', async () => {
  const input = newUser();
  const key = { 'idempotency-key': crypto.randomUUID() };

  const responses = await Promise.all(
    Array.from({ length: 10 }, () => api.send('POST', USERS, input, key)),
  );
  const users = await Promise.all(responses.map(async (response) => await readJson(response, 201)));
  const other = await api.send('POST', USERS, { ...input, name: 'Grace' }, key);
  await api.send('DELETE', `${USERS}/${users[0].data.id}`);

  assert.equal(new Set(users.map(({ data }) => data.id)).size, 1);
  assert.equal(other.status, 422);
});

test('users v2: an email address that exists in any case returns 409', () =>
  withUser(async ({ user }) => {
    const input = { name: 'Other', email: user.email.toUpperCase() };

    await readProblem(await api.send('POST', USERS, input), 409, 'CONFLICT');
    const found = await readJson(await api.get(`${USERS}?email=${input.email}`));
    assert.deepEqual(found.data, [user]);
  }));
test('users v2: each page links to the next, and an invalid cursor returns 400', () =>
  withUser(() =>
    withUser(async () => {
      const first = await api.get(`${USERS}?limit=1`);
      const next = nextPage(first);
      const second = await readJson(await api.get(next));

      assert.notEqual(second.data[0].id, (await readJson(first)).data[0].id);
      await readProblem(await api.get(`${USERS}?cursor=made-up`), 400, 'BAD_REQUEST');
    }),
  ));
test('users v2: a validation error lists every invalid field', async () => {
  const response = await api.send('POST', USERS, { name: '', email: 'nowhere' });

  const problem = await readProblem(response, 400, 'VALIDATION_FAILED');
  assert.deepEqual(problem.errors.map(({ pointer }: Json) => pointer).toSorted(), [
    '/email',
    '/name',
  ]);
});

test('users v2: a request that does not accept JSON returns 406', async () => {
  const response = await api.get(USERS, { accept: 'text/csv' });

  await readProblem(response, 406, 'NOT_ACCEPTABLE');
});

interface Created {
  readonly url: string;
  readonly etag: string;
  readonly user: Json;
}

function newUser() {
  return { name: 'Ada', email: `smoke-${crypto.randomUUID()}@example.org` };
}

async function createUser(input: object): Promise<Created> {
  const response = await api.send('POST', USERS, input);
  const { data: user } = await readJson(response, 201);
  const url = `${USERS}/${user.id}`;
  assert.equal(response.headers.get('location'), url);
  const etag = response.headers.get('etag') ?? '';
  assert.match(etag, /^"[^"]+"$/);
  return { url, etag, user };
}

/** Creates a user for `work` and deletes it afterwards. */
async function withUser(work: (created: Created) => Promise<void>): Promise<void> {
  const created = await createUser(newUser());
  try {
    await work(created);
  } finally {
    await api.send('DELETE', created.url);
  }
}
