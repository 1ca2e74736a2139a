import assert from 'node:assert/strict';

import { readJson, readNothing, readProblem } from '@fw/service/testing';
import { test } from 'vitest';

import type { paths } from '../../../services/users/openapi/v2.d.ts';
import { clientOf, nextPage } from '../requests.ts';
import { readTarget } from '../target.ts';

const USERS = '/api/v2/users';
const USER = '/api/v2/users/{id}';

const { api } = readTarget();
const client = clientOf<paths>(api, USERS);

test('users v2: a user is created, read, changed and deleted at its URL', async () => {
  const { path, url, user, etag } = await createUser(newUser());

  const read = await client.get(USER, { path });
  assert.equal(read.etag, etag);
  assert.deepEqual(read.data.data, user);
  await readNothing(await api.get(url, { 'if-none-match': etag }), 304);
  const body = { name: 'Ada Lovelace' };
  const patched = await client.patch(USER, { path, body, ifMatch: etag });
  assert.notEqual(patched.etag, etag);
  const { name, email } = patched.data.data;
  assert.deepEqual([name, email], ['Ada Lovelace', user.email]);
  assert.deepEqual((await client.delete(USER, { path })).data, { success: true });
  await assert.rejects(client.get(USER, { path }), { status: 404, code: 'NOT_FOUND' });
  await readProblem(await api.get(url), 404, 'NOT_FOUND');
});

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
  const body = newUser();
  const headers = { 'idempotency-key': crypto.randomUUID() };

  const responses = await Promise.all(
    Array.from({ length: 10 }, () => client.post(USERS, { body, headers })),
  );
  const other = client.post(USERS, { body: { ...body, name: 'Grace' }, headers });

  await assert.rejects(other, { status: 422 });
  const ids = new Set(responses.map(({ data }) => data.data.id));
  for (const id of ids) await client.delete(USER, { path: { id } });
  assert.equal(ids.size, 1);
});

test('users v2: each page links to the next, and an invalid cursor returns 400', () =>
  withUser(() =>
    withUser(async () => {
      const first = await client.get(USERS, { query: { limit: 1 } });
      const second = await readJson(await api.get(nextPage(first)));

      assert.notEqual(second.data[0].id, first.data.data[0]?.id);
      await readProblem(await api.get(`${USERS}?cursor=made-up`), 400, 'BAD_REQUEST');
    }),
  ));

interface Created {
  readonly path: { readonly id: string };
  readonly url: string;
  readonly etag: string;
  readonly user: { readonly id: string; readonly name: string; readonly email: string };
}

function newUser() {
  return { name: 'Ada', email: `smoke-${crypto.randomUUID()}@example.org` };
}

async function createUser(body: ReturnType<typeof newUser>): Promise<Created> {
  const { status, headers, etag = '', data } = await client.post(USERS, { body });
  const user = data.data;
  const url = `${USERS}/${user.id}`;
  assert.equal(status, 201);
  assert.equal(headers.get('location'), url);
  assert.match(etag, /^"[^"]+"$/);
  return { path: { id: user.id }, url, etag, user };
}

/** Creates a user for `work` and deletes it afterwards. */
async function withUser(work: (created: Created) => Promise<void>): Promise<void> {
  const created = await createUser(newUser());
  try {
    await work(created);
  } finally {
    await client.delete(USER, { path: created.path });
  }
}
