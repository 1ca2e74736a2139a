import { type Json, readJson, readNothing, readProblem, type Send } from '@fw/service/testing';
import { expect, onTestFinished, test } from 'vitest';

const USERS = '/api/v1/users';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const ADA = { name: 'Ada', email: 'ada@example.com' };
const LONGEST = { name: '🙂'.repeat(200), email: `${'é'.repeat(242)}@example.com` };
const TOO_LONG: readonly [body: object, detail: string][] = [
  [{ ...ADA, name: `${LONGEST.name}a` }, 'name must be 1 to 200 characters long'],
  [{ ...ADA, email: `a${LONGEST.email}` }, 'email must be at most 254 characters long'],
];

/** Tests of version 1 for any system, also with other users. Each test calls `newSend`. */
export function describeUsersV1(newSend: () => Send): void {
  /** Creates users, which are deleted after the test. */
  async function create(...users: readonly object[]) {
    const send = newSend();
    const created: Json[] = [];
    for (const user of users) {
      const { data } = await readJson(await send('POST', USERS, user), 201);
      onTestFinished(async () => void (await send('DELETE', `${USERS}/${data.id}`)));
      created.push(data);
    }
    return { send, created, id: created[0]?.id };
  }

  test('GET of the list returns all users and their number', async () => {
    const { send, created } = await create(ADA, { ...ADA, name: 'Bob' });

    const { data, ...rest } = await readJson(await send('GET', USERS));

    expect(data).toEqual(expect.arrayContaining(created));
    expect(rest).toEqual({ total: data.length });
  });

  test('POST creates a user with a random id, and ignores unknown fields', async () => {
    const { send, created, id } = await create({ ...ADA, id: 'mine', admin: true });

    const { createdAt } = created[0];
    const times = { createdAt, updatedAt: createdAt };
    expect(created).toEqual([{ id: expect.stringMatching(UUID), ...ADA, ...times }]);
    expect(new Date(createdAt).toISOString()).toBe(createdAt);
    expect(Math.abs(Date.parse(createdAt) - Date.now())).toBeLessThan(60_000);
    expect(await readJson(await send('GET', `${USERS}/${id}`))).toEqual({ data: created[0] });
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
    const response = await newSend()('POST', USERS, body);

    expect(await readProblem(response, 400, 'BAD_REQUEST')).toMatchObject({ detail });
  });

  test('POST and PUT accept a name of 200 and an email of 254 characters', async () => {
    const { send, created, id } = await create(LONGEST);

    const { data } = await readJson(await send('PUT', `${USERS}/${id}`, LONGEST));

    expect([created[0], data]).toMatchObject([LONGEST, LONGEST]);
  });

  test('PUT changes the supplied fields and updatedAt, and ignores unknown fields', async () => {
    const { send, created, id } = await create(ADA);
    const email = 'ada@example.org';

    const changes = { email, id: 'u9', toString: 'x', isAdmin: true };
    const { data } = await readJson(await send('PUT', `${USERS}/${id}`, changes));

    expect(data).toEqual({ ...created[0], email, updatedAt: data.updatedAt });
    expect(data.updatedAt >= data.createdAt).toBe(true);
    expect(await readJson(await send('GET', `${USERS}/${id}`))).toEqual({ data });
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
    const { send, created, id } = await create(ADA);

    const response = await send('PUT', `${USERS}/${id}`, body);

    expect(await readProblem(response, 400, 'BAD_REQUEST')).toMatchObject({ detail });
    expect(await readJson(await send('GET', `${USERS}/${id}`))).toEqual({ data: created[0] });
  });

  test('DELETE returns 204 without a body and removes the user', async () => {
    const { send, id } = await create(ADA);

    await readNothing(await send('DELETE', `${USERS}/${id}`), 204);

    await readProblem(await send('GET', `${USERS}/${id}`), 404, 'NOT_FOUND');
  });

  test.each(['GET', 'PUT', 'DELETE'])(
    '%s of an unknown user responds with 404 and the id',
    async (method) => {
      const response = await newSend()(method, `${USERS}/nobody`);

      const { detail } = await readProblem(response, 404, 'NOT_FOUND');
      expect(detail).toBe('User "nobody" not found');
    },
  );

  test.each([
    ['?page=1', { page: 1, limit: 10 }],
    ['?limit=2', { page: 1, limit: 2 }],
    ['?page=2&limit=2', { page: 2, limit: 2 }],
    ['?page=9007199254740991&limit=100', { page: 9007199254740991, limit: 100 }],
  ])('GET of the list with %s returns that page', async (query, meta) => {
    const { send } = await create(ADA, ADA, ADA);
    const { data, total } = await readJson(await send('GET', USERS));

    const page = await readJson(await send('GET', USERS + query));

    const start = (meta.page - 1) * meta.limit;
    expect(page).toEqual({
      data: data.slice(start, start + meta.limit),
      meta: { total, ...meta },
    });
  });

  test('GET of the list with limit=101 responds with 400', async () => {
    const response = await newSend()('GET', `${USERS}?limit=101`);

    const { detail } = await readProblem(response, 400, 'BAD_REQUEST');
    expect(detail).toBe('limit must be between 1 and 100');
  });

  test.each(['TEXT/HTML', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'])(
    'GET of a user with Accept %s returns HTML with every value escaped',
    async (Accept) => {
      const user = { name: `<script>alert("1")</script> & 'co'`, email: 'a<b>@c' };
      const { send, id } = await create(user);

      const response = await send('GET', `${USERS}/${id}`, undefined, { Accept });

      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('vary')).toMatch(/\baccept\b/i);
      expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      const html = await response.text();
      expect(html).toContain(
        '<h1>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;co&#39;</h1>',
      );
      expect(html).toContain('<p>a&lt;b&gt;@c</p>');
    },
  );

  test.each(['application/json', '*/*'])(
    'GET of a user with Accept %s returns JSON',
    async (Accept) => {
      const { send, created, id } = await create(ADA);

      const response = await send('GET', `${USERS}/${id}`, undefined, { Accept });

      expect(response.headers.get('vary')).toMatch(/\baccept\b/i);
      expect(await readJson(response)).toEqual({ data: created[0] });
    },
  );
}
