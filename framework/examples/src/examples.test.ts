import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { claimsOf, forge } from '../../middleware/src/testing/tokens.ts';
import { type Example, startExample } from './testing.ts';

/** A response; what is omitted may have any value, except `status`, which is then 200. */
interface Expected {
  readonly status?: number;
  /** Fields of the head; null if there must be no such field. */
  readonly headers?: Readonly<Record<string, unknown>>;
  /** The whole body, text or JSON; as a function, of the users that the program has created. */
  readonly body?: unknown;
  /** Some members of a JSON body. */
  readonly members?: object;
}

/** What a request has besides its method and path. */
interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** Instead of `json`: a form with files. */
  readonly form?: FormData;
  /** How often the request is sent; only the last response is compared. Default 1. */
  readonly times?: number;
  /** The request is repeated until the response contains this text. */
  readonly until?: string;
}

/** In a path, `:id` is the id of the user that the program has created last. */
type Row = readonly [request: string, expected: Expected, sent?: Sent];

interface User {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const ADA = { name: 'Ada', email: 'ada@example.com' };
const TAG = `<i>"A" & 'B'</i>`;
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const isProblem = { 'content-type': 'application/problem+json' };
const incomplete = {
  status: 400,
  headers: isProblem,
  members: { detail: 'name and email are required' },
};
const noUser = { status: 404, members: { detail: 'User "none" not found', code: 'NOT_FOUND' } };

/** What the programs with and without a controller have in common. */
const USERS: readonly Row[] = [
  ['POST /api/users', incomplete, { json: {} }],
  ['POST /api/users', incomplete, { json: { name: 'Ada' } }],
  ['POST /api/users', incomplete, { json: { email: 'ada@example.com' } }],
  ['POST /api/users', incomplete, { json: { ...ADA, name: '' } }],
  ['POST /api/users', incomplete, { json: { ...ADA, email: '' } }],
  ['POST /api/users', incomplete, { json: [] }],
  ['GET /api/users', { body: { data: [], total: 0 } }],
  [
    'POST /api/users',
    { status: 201, body: ([user]: User[]) => ({ data: isNew(user) }) },
    { json: { ...ADA, id: '1', role: 'admin' } },
  ],
  ['POST /api/users', { status: 201 }, { json: ADA, times: 11 }],
  ['GET /api/users', { body: (users: User[]) => ({ data: users, total: 12 }) }],
  ['GET /api/users/:id', { body: (users: User[]) => ({ data: users.at(-1) }) }],
  [
    'PUT /api/users/:id',
    { body: (users: User[]) => ({ data: isRenamed(users.at(-1)) }) },
    { json: { name: TAG, id: 'other', createdAt: 'never' } },
  ],
  ['GET /api/users/:id', { body: (users: User[]) => ({ data: isRenamed(users.at(-1)) }) }],
  ['GET /api/users/none', noUser],
  ['PUT /api/users/none', noUser, { json: ADA }],
  ['DELETE /api/users/none', noUser],
  ['GET /api/nothing', { status: 404 }],
  ['PATCH /api/users', { status: 405, headers: { allow: 'GET, HEAD, POST' } }, { json: ADA }],
  ['OPTIONS /api/users/1', { headers: { allow: 'GET, HEAD, PUT, DELETE' } }],
];

const isNew = (user?: User) => ({
  ...ADA,
  id: expect.stringMatching(UUID),
  createdAt: expect.stringMatching(TIME),
  updatedAt: user?.createdAt,
});

const isRenamed = (user?: User) => ({
  ...user,
  name: TAG,
  updatedAt: expect.not.stringContaining(String(user?.updatedAt)),
});

const page = (number: number, limit: number) => ({
  body: (users: User[]) => ({
    data: users.slice((number - 1) * limit, number * limit),
    meta: { total: 12, page: number, limit },
  }),
});

const negotiated = (type: string) => ({ 'content-type': `${type}; charset=utf-8`, vary: 'Accept' });
const article =
  '<article><h1>&lt;i&gt;&quot;A&quot; &amp; &#39;B&#39;&lt;/i&gt;</h1><p>ada@example.com</p></article>';

/** The items of the paginated list. */
const items = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => ({
    id: first + at,
    name: `User ${first + at}`,
  }));

const noNumber = ['0', '-1', '1.5', 'x', '2x', 'NaN', 'Infinity'];
const badRequest = (detail: string) => ({
  status: 400,
  headers: isProblem,
  members: { detail, code: 'BAD_REQUEST' },
});

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const remaining = (count: string) => ({ headers: { 'ratelimit-remaining': count } });
const unauthorized = {
  status: 401,
  headers: { 'www-authenticate': 'Bearer', 'ratelimit-remaining': null },
  members: { code: 'UNAUTHORIZED' },
};

/** A token of the user `ada` for the notes, signed with the secret of tests. */
const noteToken = (scope: string) =>
  bearer(forge({ alg: 'HS256' }, claimsOf({ aud: 'notes', scope })));
const lacks = (scope: string) => ({
  status: 403,
  headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  members: { code: 'INSUFFICIENT_SCOPE' },
});

const basic = (credentials: string) => ({
  headers: { Authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
});
const noPassword = {
  status: 401,
  headers: { 'www-authenticate': 'Basic realm="Staff", charset="UTF-8"' },
};

const loggedOut = { status: 401, members: { detail: 'log in first' } };
const password = { user: 'ada', password: 'correct horse' };

const guarded = { status: 401, body: { error: 'Authorization header is required' } };
const anything = { headers: { Authorization: 'anything' } };

const FIVE = { amount: 5 };
const withKey = (key: string) => ({ headers: { 'Idempotency-Key': key } });
const paid = (id: number, amount: number) => ({
  status: 201,
  headers: { location: `/payments/${id}` },
  body: { id, amount },
});

const notFound = { status: 404, members: { code: 'NOT_FOUND' } };

/** A call of a tool, and the result that it has. */
const call = (name: string, args: object, result: object): Row => [
  'POST /mcp',
  { body: { jsonrpc: '2.0', id: 1, result } },
  { json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } } },
];
const resultOf = (note: object) => ({
  content: [{ type: 'text', text: JSON.stringify(note) }],
  structuredContent: note,
});
const toolFailed = (text: string) => ({
  content: [{ type: 'text', text: expect.stringContaining(text) }],
  isError: true,
});
const book = (seat: string) => ({ json: { seat, name: 'Ada' } });
const failed = (status: number, code: string, detail?: string) => ({
  status,
  headers: isProblem,
  members: { code, ...(detail && { detail }) },
});
/** A form with a file of this type and size. */
function photo(type: string, sizeBytes: number, field = 'photo') {
  const form = new FormData();
  form.set(field, new File([new Uint8Array(sizeBytes)], '../../evil.html', { type }));
  return { form };
}

const png = { headers: { 'content-type': 'image/png' } };
const cachedRates = { reads: 1, base: 'EUR', rates: { USD: 1.1 } };

/** The requests that each program gets, in this order. */
const EXAMPLES: Readonly<Record<string, readonly Row[]>> = {
  crud: [
    ...USERS,
    ['GET /api/users?page=1', page(1, 10)],
    ['GET /api/users?page=2&limit=5', page(2, 5)],
    ['GET /api/users?page=0', badRequest('page must be a positive integer')],
    [
      'GET /api/users/:id',
      { headers: negotiated('application/json') },
      { headers: { Accept: 'application/json' } },
    ],
    [
      'GET /api/users/:id',
      { headers: negotiated('text/html'), body: article },
      { headers: { Accept: 'application/xml,text/html;q=0.9' } },
    ],
    ['DELETE /api/users/:id', { status: 204, body: '' }],
    ['GET /api/users/:id', { status: 404 }],
  ],
  controllers: [
    ...USERS,
    ['DELETE /api/users/:id', { body: { success: true } }],
    ['GET /api/users/:id', { status: 404 }],
    ['GET /api/api/users', { status: 404 }],
  ],
  mcp: [
    call('getNote', { id: 1 }, resultOf({ id: 1, text: 'Water the plants' })),
    call('getNote', { id: 2 }, toolFailed('"code":"NOT_FOUND"')),
    call('addNote', { body: { text: '' } }, toolFailed('"code":"VALIDATION_FAILED"')),
    call('addNote', { body: { text: 'Call Ada' } }, resultOf({ id: 2, text: 'Call Ada' })),
    ['GET /api/notes/2', { body: { id: 2, text: 'Call Ada' } }],
    ['GET /mcp', { status: 405, headers: { allow: 'POST' } }],
  ],
  pagination: [
    [
      'GET /users',
      {
        body: {
          items: items(1, 20),
          page: 1,
          limit: 20,
          total: 45,
          totalPages: 3,
          hasNextPage: true,
        },
      },
    ],
    ['GET /users?page=&limit=', { members: { items: items(1, 20), page: 1, limit: 20 } }],
    ['GET /users?page=2', { members: { items: items(21, 40), page: 2, hasNextPage: true } }],
    ['GET /users?page=3', { members: { items: items(41, 45), page: 3, hasNextPage: false } }],
    ['GET /users?page=4', { members: { items: [], total: 45, hasNextPage: false } }],
    ['GET /users?page=1e300', { members: { items: [], total: 45, hasNextPage: false } }],
    ['GET /users?limit=1', { members: { items: items(1, 1), totalPages: 45, hasNextPage: true } }],
    ['GET /users?limit=100', { members: { items: items(1, 45), totalPages: 1 } }],
    ['GET /users?page=5&limit=9', { members: { items: items(37, 45), hasNextPage: false } }],
    ['GET /users?page=2&page=3&limit=10&limit=x', { members: { items: items(11, 20), page: 2 } }],
    ['GET /users?page=1e0&limit=0x10', { members: { items: items(1, 16), limit: 16 } }],
    ...noNumber.map(
      (value): Row => [`GET /users?page=${value}`, badRequest('page must be a positive integer')],
    ),
    ...[...noNumber, '101'].map(
      (value): Row => [`GET /users?limit=${value}`, badRequest('limit must be between 1 and 100')],
    ),
  ],
  reports: [
    ['GET /api/reports', unauthorized],
    ['GET /api/reports', unauthorized, bearer('unknown')],
    [
      'GET /api/reports',
      {
        headers: { 'ratelimit-limit': '100', 'ratelimit-remaining': '99' },
        members: { reports: [{ id: 'revenue' }, { id: 'signups' }] },
      },
      bearer('ada-token'),
    ],
    ['GET /api/reports', remaining('0'), { ...bearer('ada-token'), times: 99 }],
    [
      'GET /api/reports',
      {
        status: 429,
        headers: {
          'ratelimit-remaining': '0',
          'retry-after': expect.stringMatching(/^(?:[1-9]|[1-5]\d|60)$/),
        },
        members: { code: 'RATE_LIMITED' },
      },
      bearer('ada-token'),
    ],
    ['GET /api/reports', remaining('99'), bearer('bob-token')],
    ['GET /api/reports/public', remaining('99')],
    ['GET /api/reports/public', { ...remaining('98'), members: { reports: [{ id: 'signups' }] } }],
  ],
  chat: [
    ['GET /rooms/7', { status: 400, headers: isProblem, members: { detail: 'name is required' } }],
    ['GET /rooms/7?name=Ada', { status: 426, headers: { upgrade: 'websocket' } }],
    ['POST /rooms/7?name=Ada', { status: 405 }],
  ],
  'own-middleware': [
    [
      'GET /notes',
      {
        body: { owner: 'Ada' },
        headers: { 'x-version': '7', 'server-timing': expect.stringMatching(/^app;dur=\d+\.\d$/) },
      },
      { headers: { 'X-Api-Key': 'key-1' } },
    ],
    [
      'GET /notes',
      {
        status: 401,
        headers: {
          'x-version': '7',
          'www-authenticate': 'ApiKey',
          'server-timing': expect.anything(),
        },
      },
    ],
    ['DELETE /notes', { status: 403, members: { detail: 'The notes are read-only' } }],
  ],
  guard: [
    ['GET /api/admin/stats', guarded],
    ['GET /api/admin/users/7', guarded],
    ['GET /API/%61dmin/STATS/', guarded],
    ['GET /api/admin/stats', { body: { users: 2 } }, anything],
    ['GET /api/admin/users/7', { body: { id: '7' } }, anything],
    ['GET /api/health', { body: { status: 'ok' } }],
  ],
  'bearer-token': [
    ['GET /notes', { status: 401, headers: { 'www-authenticate': 'Bearer' } }],
    ['GET /notes', { status: 401 }, bearer('forged')],
    ['GET /notes', lacks('notes:read'), noteToken('notes:write')],
    ['POST /notes', lacks('notes:write'), { ...noteToken('notes:read'), json: { text: 'Hello' } }],
    [
      'POST /notes',
      { status: 201, body: { by: 'ada', text: 'Hello' } },
      { ...noteToken('notes:write'), json: { text: 'Hello' } },
    ],
    [
      'GET /notes',
      { body: { notes: [{ by: 'ada', text: 'Hello' }] } },
      noteToken('notes:read notes:write'),
    ],
  ],
  'basic-auth': [
    ['GET /', { body: 'Anyone may read this page' }],
    ['GET /admin', noPassword],
    ['GET /admin', noPassword, basic('ada:wrong')],
    ['GET /admin', { body: 'Hello, ada' }, basic('ada:correct horse')],
  ],
  session: [
    ['GET /me', loggedOut],
    ['POST /login', { status: 401 }, { json: { ...password, password: 'wrong' } }],
    ['POST /login', { status: 401 }, { json: { ...password, user: 'eve' } }],
    [
      'POST /login',
      {
        status: 204,
        headers: { 'set-cookie': expect.stringMatching(/^__Host-session=.+; HttpOnly; SameSite=/) },
      },
      { json: password },
    ],
    ['GET /me', { body: { userId: 'ada' } }],
    [
      'POST /logout',
      { status: 403, members: { code: 'CROSS_ORIGIN_REQUEST' } },
      { headers: { 'Sec-Fetch-Site': 'cross-site' } },
    ],
    ['GET /me', { body: { userId: 'ada' }, headers: { 'set-cookie': null } }],
    ['POST /logout', { status: 204 }],
    ['GET /me', loggedOut],
    ['POST /login', { status: 429 }, { json: password, times: 8 }],
  ],
  idempotency: [
    ['POST /payments', { status: 400, members: { code: 'VALIDATION_FAILED' } }, { json: FIVE }],
    ['POST /payments', paid(1, 5), { ...withKey('a'), json: FIVE, times: 3 }],
    ['POST /payments', { status: 422 }, { ...withKey('a'), json: { amount: 6 } }],
    ['POST /payments', { status: 400 }, { ...withKey('b'), json: { amount: 0 } }],
    ['POST /payments', paid(2, 6), { ...withKey('b'), json: { amount: 6 } }],
    [
      'GET /payments',
      {
        body: {
          payments: [
            { id: 1, ...FIVE },
            { id: 2, amount: 6 },
          ],
        },
      },
    ],
  ],
  versioning: [
    ['GET /api/v1/users/7', { body: { id: '7', name: 'Ada Lovelace' } }],
    [
      'GET /api/v2/users/7',
      { body: { data: { id: '7', givenName: 'Ada', familyName: 'Lovelace' } } },
    ],
    ['GET /api/v1/books', { body: ['Notes by the Translator'] }],
    ['GET /api/v2/books', { body: { data: [{ title: 'Notes by the Translator' }] } }],
    ['GET /api/v3/users/7', notFound],
  ],
  errors: [
    ['POST /bookings', failed(404, 'NO_SUCH_SEAT', 'There is no seat 9Z'), book('9Z')],
    ['POST /bookings', { status: 201, body: { seat: '1A', name: 'Ada' } }, book('1A')],
    [
      'POST /bookings',
      { status: 409, members: { code: 'SEAT_TAKEN', detail: 'Conflict', free: ['1B'] } },
      book('1A'),
    ],
    ['POST /bookings', { status: 201 }, book('1B')],
    ['POST /bookings', failed(409, 'SOLD_OUT', 'Conflict'), book('1B')],
  ],
  openapi: [
    [
      'GET /openapi.json',
      {
        headers: { 'content-type': expect.stringMatching('application/json') },
        body: expect.objectContaining({
          openapi: expect.stringMatching(/^3\.1\./),
          info: { title: 'Books', version: '2.1.0' },
          paths: {
            '/api/books': expect.anything(),
            '/api/books/old': { get: expect.objectContaining({ deprecated: true }) },
            '/api/books/untyped/{shelf}': expect.anything(),
            '/api/books/{id}': expect.anything(),
          },
        }),
      },
    ],
    [
      'GET /docs',
      {
        headers: { 'content-type': expect.stringMatching('text/html') },
        body: expect.stringMatching(/^<!doctype html>/i),
      },
    ],
    ['GET /api/books/internal', { body: { size: 1 } }],
    ['GET /api/books/admin/stats', { body: { books: 1 } }],
    [
      'POST /api/books',
      {
        status: 400,
        members: { code: 'VALIDATION_FAILED', errors: [{ in: 'body', pointer: '/year' }] },
      },
      { json: { title: 'Untitled', year: 'soon' } },
    ],
    [
      'POST /api/books',
      { status: 201, body: { id: 2, title: 'The Art of Computer Programming', year: 1968 } },
      { json: { title: 'The Art of Computer Programming', year: 1968 } },
    ],
    ['GET /api/books?from=1900', { members: { data: [{ id: 2 }], total: 1 } }],
  ],
  upload: [
    [
      'POST /photos',
      {
        status: 201,
        headers: { location: expect.stringMatching(/^\/photos\/[\da-f-]{36}\.png$/) },
        body: { data: { id: expect.stringMatching(/\.png$/), sizeBytes: 5 } },
      },
      photo('image/png', 5),
    ],
    ['GET /photos/:id', { ...png, body: '\0'.repeat(5) }],
    ['POST /photos', badRequest('photo must be a PNG or JPEG image'), photo('text/html', 5)],
    ['POST /photos', badRequest('photo must be a file'), photo('image/png', 5, 'other')],
    ['POST /photos', { status: 413 }, photo('image/png', 1024 ** 2 + 1)],
  ],
  download: [
    ['GET /invoices/1/file', { status: 401 }],
    [
      'GET /invoices/1/file',
      {
        headers: {
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': `attachment; filename="Rechnung f_r M_rz.csv"; filename*=UTF-8''Rechnung%20f%C3%BCr%20M%C3%A4rz.csv`,
          'cache-control': 'private, no-cache',
        },
        body: 'item,price\npen,2\n',
      },
      basic('ada:correct horse'),
    ],
    ['GET /invoices/2/file', notFound, basic('ada:correct horse')],
    ['GET /invoices/3/file', notFound, basic('ada:correct horse')],
  ],
  'background-job': [
    [
      'POST /mails',
      { status: 202, members: { data: { id: expect.stringMatching(UUID) } } },
      { json: { text: 'Hello' } },
    ],
    ['GET /mails/:id', { members: { data: { state: 'done' } } }, { until: 'done' }],
    ['POST /mails', { status: 202 }, { json: { text: '' } }],
    ['GET /mails/:id', { members: { data: { state: 'failed' } } }, { until: 'failed' }],
    ['GET /mails/none', { status: 404, members: { detail: 'Mail "none" not found' } }],
  ],
  caching: [
    [
      'GET /rates',
      {
        headers: { 'cache-control': 'public, max-age=60', etag: expect.any(String) },
        body: cachedRates,
      },
    ],
    ['GET /rates', { body: cachedRates }, { times: 3 }],
    ['GET /rates', { status: 304, body: '' }, { headers: { 'If-None-Match': '*' } }],
    ['GET /me', { headers: { 'cache-control': 'private, no-store', etag: null } }],
  ],
  'from-express': [
    ['GET /notes', { body: ['1'] }],
    ['GET /notes/1', { body: { id: '1', text: 'Buy milk' } }],
    ['GET /notes/9', { status: 404, headers: isProblem, members: { code: 'NOT_FOUND' } }],
    ['POST /notes', { status: 201, body: { id: '2' } }, { json: { text: 'Call Bob' } }],
    ['POST /notes', { status: 400, members: { code: 'VALIDATION_FAILED' } }, { json: {} }],
    ['GET /notes', { body: ['1', '2'] }],
    ['DELETE /notes/1', { status: 403, body: { error: 'read-only' } }],
    ['GET /other', notFound],
  ],
  events: [
    [
      'POST /api/imports',
      { status: 201, body: { number: 1, lines: 0, bytes: 9 } },
      { json: ['a', 'b'] },
    ],
    ['HEAD /api/imports/events', { headers: { 'content-type': 'text/event-stream' } }],
  ],
};

describe.each(Object.entries(EXAMPLES))('%s', (name, rows) => {
  let example: Example;
  const users: User[] = [];
  let cookie = '';
  beforeAll(async () => {
    example = await startExample(name);
  });
  afterAll(() => example.stop());

  test.each(rows.map(([request, ...row]) => [request, row] as const))(
    '%s',
    async (request, row) => {
      const [{ status = 200, headers = {}, body, members }, sent = {}] = row;

      const response = await send(request, sent);

      expect(response.status).toBe(status);
      const fields = Object.keys(headers).map((field) => [field, response.headers.get(field)]);
      expect(Object.fromEntries(fields)).toEqual(headers);
      const content = response.headers.get('content-type')?.includes('json')
        ? JSON.parse(response.text)
        : response.text;
      if (body !== undefined) {
        expect(content).toEqual(typeof body === 'function' ? body(users) : body);
      }
      if (members) expect(content).toMatchObject(members);
    },
  );

  /** Sends a request as often as the row says, and remembers the users that it creates, and its cookie. */
  async function send(request: string, { headers, json, form, times = 1, until = '' }: Sent) {
    const [method = '', path = ''] = request.replace(':id', users.at(-1)?.id ?? '').split(' ');
    const isJson = json !== undefined && { 'Content-Type': 'application/json' };
    const sent = { ...(cookie && { Cookie: cookie }), ...headers, ...isJson };
    const init = { method, headers: sent, body: form ?? JSON.stringify(json) };
    for (let left = times; ; left--) {
      const response = await fetch(`${example.origin}${path}`, init);
      const text = await response.text();
      if (response.status === 201 || response.status === 202) users.push(JSON.parse(text).data);
      cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
      if (left <= 1 && text.includes(until))
        return { status: response.status, headers: response.headers, text };
    }
  }
});

test('chat sends messages to the clients of the same room', async () => {
  const example = await startExample('chat');
  onTestFinished(() => example.stop());
  const join = async (path: string) => {
    const socket = new WebSocket(`${example.origin.replace('http', 'ws')}${path}`);
    const received: unknown[] = [];
    socket.onmessage = ({ data }) => received.push(JSON.parse(data));
    await expect.poll(() => received).toHaveLength(1);
    return { socket, received };
  };
  const ada = await join('/rooms/7?name=Ada');
  const bob = await join('/rooms/7?name=Bob');
  const eve = await join('/rooms/8?name=Eve');

  bob.socket.send('{"text":"hello"}');
  await expect.poll(() => bob.received).toHaveLength(2);
  bob.socket.close();

  await expect
    .poll(() => ada.received)
    .toEqual([
      { joined: 'Ada' },
      { joined: 'Bob' },
      { name: 'Bob', text: 'hello' },
      { left: 'Bob' },
    ]);
  expect(eve.received).toEqual([{ joined: 'Eve' }]);
});
