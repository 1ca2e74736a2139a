import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { jsonRequest, startExample } from './testing.ts';

const ADA = { name: 'Ada', email: 'ada@example.com' };
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

interface User {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The user in a response. */
async function readUser(response: Response): Promise<User> {
  const { data } = (await response.json()) as { data: User };
  return data;
}

/** Starts the program; returns the URL of users and a function that creates one. */
async function start() {
  const example = await startExample('crud');
  onTestFinished(example.stop);
  const url = `${example.origin}/api/users`;
  const create = async (input: object = ADA) =>
    readUser(await fetch(url, jsonRequest('POST', input)));
  return { ...example, url, create };
}

test('POST sends 201 with a user that has an id and both times', async () => {
  const { url } = await start();

  const response = await fetch(url, jsonRequest('POST', { ...ADA, id: '1', role: 'admin' }));

  expect(response.status).toBe(201);
  const data = await readUser(response);
  expect(data).toEqual({
    ...ADA,
    id: expect.stringMatching(UUID),
    createdAt: expect.any(String),
    updatedAt: data.createdAt,
  });
  expect(new Date(data.createdAt).toISOString()).toBe(data.createdAt);
});

test('POST with a missing or empty name or email gets 400 and stores nothing', async () => {
  const { url } = await start();

  for (const input of [{}, { name: 'Ada' }, { email: ADA.email }, { ...ADA, name: '' }, []]) {
    const response = await fetch(url, jsonRequest('POST', input));

    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toMatch('application/problem+json');
    expect(await response.json()).toMatchObject({ detail: 'name and email are required' });
  }
  expect(await (await fetch(url)).json()).toEqual({ data: [], total: 0 });
});

test('GET lists all users with their total, and reads one', async () => {
  const { url, create } = await start();
  const ada = await create();
  const bob = await create({ name: 'Bob', email: 'bob@example.com' });

  const list = await fetch(url);
  const one = await fetch(`${url}/${bob.id}`);

  expect(list.status).toBe(200);
  expect(await list.json()).toEqual({ data: [ada, bob], total: 2 });
  expect(one.status).toBe(200);
  expect(await one.json()).toEqual({ data: bob });
});

test('PUT overwrites the given fields, keeps the others, and updates updatedAt', async () => {
  const { url, create } = await start();
  const user = await create();
  await sleep(2);

  const input = { name: 'Ada Lovelace', id: 'other', createdAt: 'never' };
  const response = await fetch(`${url}/${user.id}`, jsonRequest('PUT', input));

  expect(response.status).toBe(200);
  const data = await readUser(response);
  expect(data).toEqual({ ...user, name: 'Ada Lovelace', updatedAt: data.updatedAt });
  expect(Date.parse(data.updatedAt)).toBeGreaterThan(Date.parse(user.updatedAt));
  expect(await (await fetch(`${url}/${user.id}`)).json()).toEqual({ data });
});

test('DELETE sends 204 without a body and deletes the user', async () => {
  const { url, create } = await start();
  const user = await create();

  const response = await fetch(`${url}/${user.id}`, { method: 'DELETE' });

  expect(response.status).toBe(204);
  expect(await response.text()).toBe('');
  expect((await fetch(`${url}/${user.id}`)).status).toBe(404);
  expect(await (await fetch(url)).json()).toEqual({ data: [], total: 0 });
});

test('GET, PUT and DELETE send 404 with the id of a missing user', async () => {
  const { url } = await start();

  for (const init of [{}, jsonRequest('PUT', ADA), { method: 'DELETE' }]) {
    const response = await fetch(`${url}/no-such-id`, init);

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      detail: 'User "no-such-id" not found',
      code: 'NOT_FOUND',
    });
  }
});

test('GET sends a page of 10 by default', async () => {
  const { url, create } = await start();
  const users: User[] = [];
  for (let at = 0; at < 12; at++) users.push(await create({ ...ADA, name: `User ${at}` }));

  const first = await (await fetch(`${url}?page=1`)).json();
  const second = await (await fetch(`${url}?page=2`)).json();
  const small = await (await fetch(`${url}?limit=5&page=2`)).json();
  const invalid = await fetch(`${url}?page=x`);

  expect(first).toEqual({ data: users.slice(0, 10), meta: { total: 12, page: 1, limit: 10 } });
  expect(second).toEqual({ data: users.slice(10), meta: { total: 12, page: 2, limit: 10 } });
  expect(small).toEqual({ data: users.slice(5, 10), meta: { total: 12, page: 2, limit: 5 } });
  expect(invalid.status).toBe(400);
});

test('GET by id sends escaped HTML if accepted, else JSON, with Vary', async () => {
  const { url, create } = await start();
  const { id } = await create({ ...ADA, name: '<script>alert("1")</script>&' });

  const browser = await fetch(`${url}/${id}`, {
    headers: { Accept: 'application/xml,text/html;q=0.9' },
  });
  const others = await fetch(`${url}/${id}`, { headers: { Accept: 'application/json' } });

  expect(browser.headers.get('content-type')).toMatch('text/html');
  expect(browser.headers.get('vary')).toMatch('Accept');
  const html = await browser.text();
  expect(html).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;');
  expect(html).not.toContain('<script');
  expect(others.headers.get('content-type')).toMatch('application/json');
  expect(others.headers.get('vary')).toMatch('Accept');
});

test('other paths get 404, other methods 405 with Allow', async () => {
  const { origin, url } = await start();

  const unknown = await fetch(`${origin}/api/nothing`);
  const patch = await fetch(url, jsonRequest('PATCH', ADA));
  const options = await fetch(`${url}/1`, { method: 'OPTIONS' });

  expect(unknown.status).toBe(404);
  expect(patch.status).toBe(405);
  expect(patch.headers.get('allow')).toBe('GET, HEAD, POST');
  expect(options.status).toBe(200);
  expect(options.headers.get('allow')).toBe('GET, HEAD, PUT, DELETE');
});
