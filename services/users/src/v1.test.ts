import { expect, test } from 'vitest';

import { ADA, createTestApi, NOON, TEN } from './testing.ts';

const USERS = '/api/v1/users';

const LONGEST_NAME = '🙂'.repeat(200);
const LONGEST_EMAIL = `${'é'.repeat(242)}@example.com`;
const TOO_LONG: readonly [body: object, detail: string][] = [
  [{ ...ADA, name: `${LONGEST_NAME}a` }, 'name must be 1 to 200 characters long'],
  [{ ...ADA, email: `a${LONGEST_EMAIL}` }, 'email must be at most 254 characters long'],
];

test('GET of the list returns all users and the total', async () => {
  const { send } = createTestApi();
  expect(await (await send('GET', USERS)).json()).toEqual({ data: [], total: 0 });
  await send('POST', USERS, ADA);
  await send('POST', USERS, { name: 'Bob', email: 'bob@example.com' });

  const response = await send('GET', USERS);

  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    data: [
      { id: 'u1', ...ADA, createdAt: TEN, updatedAt: TEN },
      { id: 'u2', name: 'Bob', email: 'bob@example.com', createdAt: TEN, updatedAt: TEN },
    ],
    total: 2,
  });
});

test('POST creates a user and returns it with 201', async () => {
  const { send } = createTestApi();

  const response = await send('POST', USERS, { ...ADA, id: 'mine', admin: true });

  expect(response.status).toBe(201);
  const body = { data: { id: 'u1', ...ADA, createdAt: TEN, updatedAt: TEN } };
  expect(await response.json()).toEqual(body);
  expect(await (await send('GET', `${USERS}/u1`)).json()).toEqual(body);
});

test.each<[body: unknown, detail: string]>([
  [undefined, 'name and email are required'],
  [{}, 'name and email are required'],
  [{ name: 'Ada' }, 'name and email are required'],
  [{ email: 'ada@example.com' }, 'name and email are required'],
  [{ name: '', email: 'ada@example.com' }, 'name and email are required'],
  [{ name: 'Ada', email: '' }, 'name and email are required'],
  [[ADA], 'name and email are required'],
  [{ name: 7, email: 'ada@example.com' }, 'name must be a string'],
  [{ name: 'Ada', email: ['ada@example.com'] }, 'email must be a string'],
  [{ name: '', email: 7 }, 'name and email are required'],
  [{ name: 'a'.repeat(201) }, 'name and email are required'],
  ...TOO_LONG,
])('POST of %j responds with 400: %s', async (body, detail) => {
  const { send } = createTestApi();

  const response = await send('POST', USERS, body);

  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toMatchObject({ status: 400, code: 'BAD_REQUEST', detail });
  expect(await (await send('GET', USERS)).json()).toEqual({ data: [], total: 0 });
});

test('POST and PUT accept a name of 200 and an email of 254 characters', async () => {
  const { send } = createTestApi();
  const longest = { name: LONGEST_NAME, email: LONGEST_EMAIL };

  const created = await send('POST', USERS, longest);
  const changed = await send('PUT', `${USERS}/u1`, longest);

  expect([created.status, changed.status]).toEqual([201, 200]);
  expect(await changed.json()).toMatchObject({ data: longest });
});

test('POST of a body that is larger than bodyLimit responds with 413', async () => {
  const { send } = createTestApi({ bodyLimit: 256 });

  const response = await send('POST', USERS, { ...ADA, name: 'a'.repeat(300) });

  expect(response.status).toBe(413);
});

test('PUT changes the supplied fields and ignores unknown ones', async () => {
  const { send, clock } = createTestApi();
  await send('POST', USERS, ADA);
  clock.time = NOON;
  const email = 'ada@example.org';

  const response = await send('PUT', `${USERS}/u1`, {
    email,
    id: 'u9',
    toString: 'x',
    isAdmin: true,
  });

  const data = { id: 'u1', name: 'Ada', email, createdAt: TEN, updatedAt: NOON };
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ data });
  expect(await (await send('GET', `${USERS}/u1`)).json()).toEqual({ data });
});

test('PUT without a body updates updatedAt', async () => {
  const { clock, send } = createTestApi();
  await send('POST', USERS, ADA);
  clock.time = NOON;

  const response = await send('PUT', `${USERS}/u1`);

  expect(await response.json()).toMatchObject({ data: { ...ADA, updatedAt: NOON } });
});

test.each<[body: unknown, detail: string]>([
  [{ name: '' }, 'name must be 1 to 200 characters long'],
  [{ name: 7 }, 'name must be a string'],
  [{ name: null }, 'name must be a string'],
  [{ email: {} }, 'email must be a string'],
  [{ name: '', email: 7 }, 'email must be a string'],
  [['name'], 'the body must be a JSON object'],
  ...TOO_LONG,
])('PUT of %j responds with 400 and changes nothing: %s', async (body, detail) => {
  const { send } = createTestApi();
  await send('POST', USERS, ADA);

  const response = await send('PUT', `${USERS}/u1`, body);

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: 'BAD_REQUEST', detail });
  expect(await (await send('GET', `${USERS}/u1`)).json()).toMatchObject({ data: ADA });
});

test('DELETE returns 204 without a body and removes the user', async () => {
  const { send } = createTestApi();
  await send('POST', USERS, ADA);

  const response = await send('DELETE', `${USERS}/u1`);

  expect(response.status).toBe(204);
  expect(await response.text()).toBe('');
  expect((await send('GET', `${USERS}/u1`)).status).toBe(404);
});

test.each(['GET', 'PUT', 'DELETE'])(
  '%s of an unknown user responds with 404 and the id',
  async (method) => {
    const { send } = createTestApi();

    const response = await send(method, `${USERS}/a%2Fb`);

    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({
      code: 'NOT_FOUND',
      detail: 'User "a/b" not found',
    });
  },
);

test.each([
  ['?page=1', ['u1', 'u2', 'u3'], { total: 3, page: 1, limit: 10 }],
  ['?limit=2', ['u1', 'u2'], { total: 3, page: 1, limit: 2 }],
  ['?page=2&limit=2', ['u3'], { total: 3, page: 2, limit: 2 }],
  ['?page=9007199254740991&limit=100', [], { total: 3, page: 9007199254740991, limit: 100 }],
])('GET of the list with %s returns that page', async (query, ids, meta) => {
  const { send } = createTestApi();
  for (const name of ['Ada', 'Bob', 'Cyd']) await send('POST', USERS, { ...ADA, name });

  const response = await send('GET', USERS + query);

  expect(response.status).toBe(200);
  const data = ids.map((id) => expect.objectContaining({ id }));
  expect(await response.json()).toEqual({ data, meta });
});

test('GET of the list with limit=101 responds with 400', async () => {
  const { send } = createTestApi();

  const response = await send('GET', `${USERS}?limit=101`);

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ detail: 'limit must be between 1 and 100' });
});

test.each(['TEXT/HTML', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'])(
  'GET of a user with Accept %s returns HTML with every value escaped',
  async (accept) => {
    const { send } = createTestApi();
    await send('POST', USERS, { name: `<script>alert("1")</script> & 'co'`, email: 'a<b>@c' });

    const response = await send('GET', `${USERS}/u1`, undefined, { Accept: accept });

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('vary')).toBe('Accept');
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const html = await response.text();
    expect(html).toContain(
      '<h1>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;co&#39;</h1>',
    );
    expect(html).toContain('<p>a&lt;b&gt;@c</p>');
  },
);

test('GET of a user with Accept: */* returns JSON', async () => {
  const { send } = createTestApi();
  await send('POST', USERS, ADA);

  const response = await send('GET', `${USERS}/u1`, undefined, { Accept: '*/*' });

  expect(response.headers.get('vary')).toBe('Accept');
  expect(await response.json()).toMatchObject({ data: ADA });
});
