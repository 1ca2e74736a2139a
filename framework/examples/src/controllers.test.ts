import { expect, onTestFinished, test } from 'vitest';

import { jsonRequest, startExample } from './testing.ts';

const ADA = { name: 'Ada', email: 'ada@example.com' };

async function start() {
  const { origin, stop } = await startExample('controllers');
  onTestFinished(stop);
  const url = `${origin}/api/users`;
  return { origin, url, create: () => fetch(url, jsonRequest('POST', ADA)) };
}

/** The user in a response. */
async function readUser(response: Response) {
  const { data } = (await response.json()) as { data: { id: string; updatedAt: string } };
  return data;
}

test('the controller creates, lists, reads and updates a user', async () => {
  const { url, create } = await start();

  const created = await create();
  const user = await readUser(created);
  const list = await (await fetch(url)).json();
  const one = await readUser(await fetch(`${url}/${user.id}`));
  const updated = await fetch(`${url}/${user.id}`, jsonRequest('PUT', { name: 'Ada Lovelace' }));

  expect(created.status).toBe(201);
  expect(user).toMatchObject({ ...ADA, createdAt: user.updatedAt });
  expect(list).toEqual({ data: [user], total: 1 });
  expect(one).toEqual(user);
  expect(updated.status).toBe(200);
  expect(await updated.json()).toEqual({
    data: { ...user, name: 'Ada Lovelace', updatedAt: expect.any(String) },
  });
});

test('DELETE of the controller sends { success: true } and deletes the user', async () => {
  const { url, create } = await start();
  const { id } = await readUser(await create());

  const response = await fetch(`${url}/${id}`, { method: 'DELETE' });

  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ success: true });
  expect((await fetch(`${url}/${id}`)).status).toBe(404);
});

test('the controller sends 404 with the id of a missing user', async () => {
  const { url } = await start();

  for (const init of [{}, jsonRequest('PUT', ADA), { method: 'DELETE' }]) {
    const response = await fetch(`${url}/no-such-id`, init);

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ detail: 'User "no-such-id" not found' });
  }
});

test('POST of the controller without name or email gets 400', async () => {
  const { url } = await start();

  for (const input of [{}, { name: 'Ada' }, { email: ADA.email }, { ...ADA, email: '' }]) {
    const response = await fetch(url, jsonRequest('POST', input));

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ detail: 'name and email are required' });
  }
});

test('the prefix occurs once in the paths, and other methods get 405', async () => {
  const { origin, url } = await start();

  const twice = await fetch(`${origin}/api/api/users`);
  const patch = await fetch(url, jsonRequest('PATCH', ADA));

  expect(twice.status).toBe(404);
  expect(patch.status).toBe(405);
  expect(patch.headers.get('allow')).toBe('GET, HEAD, POST');
});
