import { request } from '@fw/core/testing';
import { expect, test } from 'vitest';

import { ADA, createTestApi, NOON, openTestStore, TEN, userOf } from './testing.ts';

const USERS = '/api/v2/users';
const ADA_STORED = { id: 'u1', ...ADA, createdAt: TEN, updatedAt: TEN, version: 1 };

/** Creates the API and users with these names, in this order. */
async function createApiWith(...names: readonly string[]) {
  const api = createTestApi();
  for (const name of names) {
    await api.send('POST', USERS, { name, email: `${name.toLowerCase()}@example.com` });
  }
  return api;
}

test('POST creates a user with a name of 200 characters and returns 201 with Location and ETag', async () => {
  const { send } = createTestApi();
  const name = '🙂'.repeat(200);

  const response = await send('POST', USERS, { ...ADA, name });

  expect(response.status).toBe(201);
  expect(response.headers.get('location')).toBe('/api/v2/users/u1');
  expect(response.headers.get('etag')).toBe('"1"');
  expect(await response.json()).toEqual({ data: { ...ADA_STORED, name } });
});

test('GET returns the user with ETag and Cache-Control: private, no-cache', async () => {
  const { send } = await createApiWith('Ada');

  const response = await send('GET', `${USERS}/u1`);

  expect(response.status).toBe(200);
  expect(response.headers.get('etag')).toBe('"1"');
  expect(response.headers.get('cache-control')).toBe('private, no-cache');
  expect(response.headers.get('vary')).toBe('Accept');
  expect(await response.json()).toEqual({ data: ADA_STORED });
});

test('GET with If-None-Match returns 304 without a body until the user changes', async () => {
  const { send } = await createApiWith('Ada');
  const headers = { 'If-None-Match': '"1"' };

  const before = await send('GET', `${USERS}/u1`, undefined, headers);
  await send('PATCH', `${USERS}/u1`, { name: 'Ada L.' });
  const after = await send('GET', `${USERS}/u1`, undefined, headers);

  expect(before.status).toBe(304);
  expect(before.headers.get('etag')).toBe('"1"');
  expect(await before.text()).toBe('');
  expect(await after.json()).toMatchObject({ data: { name: 'Ada L.', version: 2 } });
});

test.each([
  ['GET', undefined],
  ['PATCH', { name: 'x' }],
  ['DELETE', undefined],
])(
  '%s of an unknown user responds with 404 and the id, with any valid If-Match',
  async (method, body) => {
    const { send } = createTestApi();

    for (const headers of [{}, { 'If-Match': '*' }, { 'If-Match': '"1"' }]) {
      const response = await send(method, `${USERS}/a%2Fb`, body, headers);

      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(await response.json()).toMatchObject({
        code: 'NOT_FOUND',
        detail: 'User "a/b" not found',
      });
    }
    const malformed = await send(method, `${USERS}/a%2Fb`, body, { 'If-Match': 'x"4"' });
    expect(malformed.status).toBe(method === 'GET' ? 404 : 400);
  },
);

test.each([
  ['"7", "1"', 200],
  ['*', 200],
  ['"2"', 412],
  ['W/"1"', 412],
  ['1', 400],
])('PATCH and DELETE with If-Match: %s respond with %i', async (tag, status) => {
  const { send } = await createApiWith('Ada', 'Bob');
  const headers = { 'If-Match': tag };

  const patched = await send('PATCH', `${USERS}/u1`, { name: 'Ada L.' }, headers);
  const deleted = await send('DELETE', `${USERS}/u2`, undefined, headers);

  expect([patched.status, deleted.status]).toEqual([status, status]);
  const { data } = (await (await send('GET', USERS)).json()) as { data: { name: string }[] };
  expect(data.map(({ name }) => name)).toEqual(status === 200 ? ['Ada L.'] : ['Ada', 'Bob']);
});

test('a change or deletion responds with 412 if another request changes the user after If-Match was checked', async () => {
  const store = openTestStore();
  const racing = { ...store, find: async () => userOf('u1') };
  const { send } = createTestApi({ store: racing });
  await store.insert(userOf('u1', { version: 2 }));
  const headers = { 'If-Match': '"1"' };

  const patched = await send('PATCH', `${USERS}/u1`, { name: 'Ada L.' }, headers);
  const deleted = await send('DELETE', `${USERS}/u1`, undefined, headers);

  expect([patched.status, deleted.status]).toEqual([412, 412]);
  expect(await store.find('u1')).toEqual(userOf('u1', { version: 2 }));
});

test.each([
  ['an empty object', {}, ['/name', '/email']],
  ['no name', { email: ADA.email }, ['/name']],
  ['an empty name', { ...ADA, name: '' }, ['/name']],
  ['a blank name', { ...ADA, name: ' \t\n' }, ['/name']],
  ['a name of 201 letters', { ...ADA, name: 'a'.repeat(201) }, ['/name']],
  ['a name of 201 emoji', { ...ADA, name: '🙂'.repeat(201) }, ['/name']],
  ['a number as name', { ...ADA, name: 7 }, ['/name']],
  ['null as name', { ...ADA, name: null }, ['/name']],
  ['no e-mail', { name: 'Ada' }, ['/email']],
  ['an e-mail without @', { ...ADA, email: 'ada' }, ['/email']],
  ['an e-mail without a domain', { ...ADA, email: 'ada@' }, ['/email']],
  ['an e-mail with a space', { ...ADA, email: 'ada @example.com' }, ['/email']],
  ['an e-mail with a line break', { ...ADA, email: 'ada@example.com\n' }, ['/email']],
  ['two @', { ...ADA, email: 'a@b@example.com' }, ['/email']],
  ['an empty part of the local part', { ...ADA, email: 'a..b@example.com' }, ['/email']],
  ['a dot before the @', { ...ADA, email: 'ada.@example.com' }, ['/email']],
  ['a dot at the start', { ...ADA, email: '.ada@example.com' }, ['/email']],
  ['a dot at the end', { ...ADA, email: 'ada@example.com.' }, ['/email']],
  ['an empty label', { ...ADA, email: 'ada@example..com' }, ['/email']],
  ['a label that starts with a hyphen', { ...ADA, email: 'ada@-example.com' }, ['/email']],
  ['an underscore in the domain', { ...ADA, email: 'ada@exam_ple.com' }, ['/email']],
  ['an e-mail with a name', { ...ADA, email: 'Ada <ada@example.com>' }, ['/email']],
  ['a quoted local part', { ...ADA, email: '"ada"@example.com' }, ['/email']],
  ['an address as domain', { ...ADA, email: 'ada@[192.0.2.1]' }, ['/email']],
  ['letters outside ASCII', { ...ADA, email: 'иван@сайт.рф' }, ['/email']],
  ['two e-mails', { ...ADA, email: 'a@example.com,b@example.com' }, ['/email']],
  ['an e-mail of 255 characters', { ...ADA, email: `ada@${'a.'.repeat(124)}com` }, ['/email']],
  ['65 characters before the @', { ...ADA, email: `${'a'.repeat(65)}@example.com` }, ['/email']],
  ['a domain that ends in a hyphen', { ...ADA, email: 'ada@example-.com' }, ['/email']],
  ['64 characters in a label', { ...ADA, email: `ada@${'a'.repeat(64)}.com` }, ['/email']],
  ['a list as e-mail', { ...ADA, email: [ADA.email] }, ['/email']],
  ['an unknown field', { ...ADA, admin: true }, ['/admin']],
  ['a field that the service sets', { ...ADA, id: 'u9' }, ['/id']],
  ['a list', [ADA], ['']],
])('POST of %s responds with 400 and creates nothing', async (_what, body, pointers) => {
  const { send } = createTestApi();

  const response = await send('POST', USERS, body);

  expect(response.status).toBe(400);
  const problem = (await response.json()) as { code: string; errors: { pointer: string }[] };
  expect(problem.code).toBe('VALIDATION_FAILED');
  expect(problem.errors).toEqual(
    pointers.map((pointer) => ({ in: 'body', pointer, detail: expect.any(String) })),
  );
  expect(await (await send('GET', USERS)).json()).toMatchObject({ data: [] });
});

test.each([
  'ivan@xn--80aswg.xn--p1ai',
  'o/b@example.org',
  "a.!#$%&'*+/=?^_`{|}~-0@example.org",
  "'@example.org",
  '-@1.example',
  'ada@3com.com',
  'ada@xn--p1ai',
  'ada@localhost',
  'ada@example.c',
  `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`,
])('POST accepts the e-mail %s, and the list finds it', async (email) => {
  const { send } = createTestApi();

  const response = await send('POST', USERS, { ...ADA, email });

  expect(response.status).toBe(201);
  const found = await send('GET', `${USERS}?email=${encodeURIComponent(email.toUpperCase())}`);
  const stored = { ...ADA_STORED, email };
  expect(await found.json()).toEqual({ data: [stored], meta: { limit: 20 } });
});

test('a huge invalid e-mail address is rejected without backtracking', async () => {
  const { send } = createTestApi();
  const startedMs = performance.now();

  for (const email of [
    'a'.repeat(500_000),
    'a.'.repeat(250_000),
    `a@${'a-'.repeat(250_000)}`,
    `a@${'a.'.repeat(250_000)}`,
    `${"a.!'".repeat(125_000)}.`,
  ]) {
    expect((await send('POST', USERS, { ...ADA, email })).status).toBe(400);
  }

  // Backtracking would take hours.
  expect(performance.now() - startedMs).toBeLessThan(30_000);
});

test.each([
  [201, 'the same fields', ` ${JSON.stringify(ADA)}`],
  [422, 'another name', { ...ADA, name: 'Eve' }],
  [422, 'another e-mail', { ...ADA, email: 'eve@example.com' }],
])('POST responds with %i to an Idempotency-Key repeated with %s', async (status, _what, body) => {
  const { send } = createTestApi();
  const headers = { 'Idempotency-Key': '~'.repeat(255) };
  await send('POST', USERS, ADA, headers);

  const response = await send('POST', USERS, body, headers);

  expect(response.status).toBe(status);
});

test('POST and PATCH to the e-mail address of another user respond with 409', async () => {
  const { send } = await createApiWith('Ada', 'Bob');
  const taken = { email: 'ADA@Example.com' };

  const created = await send('POST', USERS, { name: 'Eve', ...taken });
  const changed = await send('PATCH', `${USERS}/u2`, taken);
  const own = await send('PATCH', `${USERS}/u1`, taken);

  expect([created.status, changed.status, own.status]).toEqual([409, 409, 200]);
  expect(await created.json()).toMatchObject({
    code: 'EMAIL_TAKEN',
    detail: 'another user has this e-mail address',
  });
});

test('the list returns pages in order of creation, and Link leads through all of them', async () => {
  const { send } = await createApiWith('Ada', 'Bob', 'Cyd', 'Dee', 'Eve');
  const seen: string[][] = [];

  let path: string | undefined = `${USERS}?limit=2`;
  while (path) {
    const response: Response = await send('GET', path);
    const { data, meta } = (await response.json()) as {
      data: { name: string }[];
      meta: { limit: number; nextCursor?: string };
    };
    seen.push(data.map(({ name }) => name));
    path = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
    expect(meta).toEqual({ limit: 2, ...(path && { nextCursor: expect.any(String) }) });
    if (path) expect(path).toBe(`${USERS}?limit=2&cursor=${meta.nextCursor}`);
  }

  expect(seen).toEqual([['Ada', 'Bob'], ['Cyd', 'Dee'], ['Eve']]);
});

test('Link keeps the e-mail filter, and its cursor is invalid with another filter', async () => {
  const { send } = createTestApi();
  // Version 1 accepts the same e-mail address twice.
  for (const name of ['Ada', 'Ida']) await send('POST', '/api/v1/users', { ...ADA, name });

  const response = await send('GET', `${USERS}?limit=1&email=Ada%40example.com`);
  const { meta } = (await response.json()) as { meta: { nextCursor: string } };

  const next = `${USERS}?limit=1&cursor=${meta.nextCursor}&email=Ada%40example.com`;
  expect(response.headers.get('link')).toBe(`<${next}>; rel="next"`);
  expect(await (await send('GET', next)).json()).toMatchObject({ data: [{ name: 'Ida' }] });
  expect((await send('GET', next.replace('Ada', 'ADA'))).status).toBe(200);
  expect((await send('GET', `${USERS}?cursor=${meta.nextCursor}`)).status).toBe(400);
});

test.each([
  '?limit=101',
  '?cursor=WzFd',
  '?email=',
  '?page=2',
  '?emial=ada%40example.com',
  '/figures?days=0',
  '/figures?days=367',
  '/figures?domains=101',
  '/figures?domains=-1',
  '/figures?months=1',
])('GET of %s responds with 400', async (path) => {
  const { send } = createTestApi();

  const response = await send('GET', USERS + path);

  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
});

test.each(['application/json', 'application/merge-patch+json', 'Application/JSON; charset=utf-8'])(
  'PATCH in %s changes the supplied fields and returns the new ETag',
  async (type) => {
    const { clock, send } = await createApiWith('Ada');
    clock.time = NOON;

    const headers = { 'Content-Type': type };
    const response = await send('PATCH', `${USERS}/u1`, { name: 'Ada L.' }, headers);

    expect(response.status).toBe(200);
    expect(response.headers.get('etag')).toBe('"2"');
    const data = { ...ADA_STORED, name: 'Ada L.', updatedAt: NOON, version: 2 };
    expect(await response.json()).toEqual({ data });
    expect(await (await send('GET', `${USERS}/u1`)).json()).toEqual({ data });
  },
);

test.each([
  [{ name: null }, '/name'],
  [{ email: 'ada' }, '/email'],
  [{ id: 'u9' }, '/id'],
  [{ nmae: 'Ada' }, '/nmae'],
  [[], ''],
  [undefined, ''],
])('PATCH of %j responds with 400 and changes nothing', async (patch, pointer) => {
  const { send } = await createApiWith('Ada');

  const type = { 'Content-Type': 'application/merge-patch+json' };
  const response = await send('PATCH', `${USERS}/u1`, patch, type);

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ errors: [{ in: 'body', pointer }] });
  expect(await (await send('GET', `${USERS}/u1`)).json()).toEqual({ data: ADA_STORED });
});

test.each(['application/json-patch+json', ''])(
  'PATCH in "%s" responds with 415 and Accept-Patch',
  async (type) => {
    const { app } = await createApiWith('Ada');

    const response = await request(app, `${USERS}/u1`, {
      method: 'PATCH',
      headers: type === '' ? {} : { 'Content-Type': type },
      body: '[]',
    });

    expect(response.status).toBe(415);
    expect(response.headers.get('accept-patch')).toBe(
      'application/merge-patch+json, application/json',
    );
  },
);

test('a request whose Accept excludes JSON changes nothing', async () => {
  const { send } = await createApiWith('Ada');
  const Accept = 'text/html';

  const responses = [
    await send('POST', USERS, { name: 'Bob', email: 'bob@example.com' }, { Accept }),
    await send('PATCH', `${USERS}/u1`, { name: 'Ada L.' }, { Accept }),
    await send('DELETE', `${USERS}/u1`, undefined, { Accept }),
  ];

  expect(responses.map(({ status }) => status)).toEqual([406, 406, 406]);
  expect(await (await send('GET', USERS)).json()).toMatchObject({ data: [ADA_STORED] });
});

test('DELETE returns { success: true } and removes the user', async () => {
  const { send } = await createApiWith('Ada');

  const response = await send('DELETE', `${USERS}/u1`);

  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ success: true });
  expect((await send('GET', `${USERS}/u1`)).status).toBe(404);
  expect((await send('DELETE', `${USERS}/u1`)).status).toBe(404);
});

test('OPTIONS of a user returns the media types of a merge patch', async () => {
  const { send } = createTestApi();

  const response = await send('OPTIONS', `${USERS}/u1`);

  expect(response.headers.get('allow')).toBe('GET, HEAD, PATCH, DELETE');
  expect(response.headers.get('accept-patch')).toBe(
    'application/merge-patch+json, application/json',
  );
});

test('the figures count users in total, by day and by domain', async () => {
  const { clock, send } = createTestApi();
  clock.time = '2026-11-19T23:59:59.999Z';
  await send('POST', USERS, { name: 'Ada', email: 'ada@example.com' });
  clock.time = NOON;
  await send('POST', USERS, { name: 'Bob', email: 'bob@EXAMPLE.com' });
  await send('POST', USERS, { name: 'Cyd', email: 'cyd@example.org' });

  const response = await send('GET', `${USERS}/figures?days=3&domains=1`);

  expect(response.status).toBe(200);
  expect(response.headers.get('cache-control')).toBe('public, max-age=10');
  expect(await response.json()).toEqual({
    data: {
      total: 3,
      byDay: [
        { date: '2026-11-19', count: 1 },
        { date: '2026-11-20', count: 0 },
        { date: '2026-11-21', count: 2 },
      ],
      byDomain: [{ domain: 'example.com', count: 2 }],
    },
  });
});
