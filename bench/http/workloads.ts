import { fileURLToPath } from 'node:url';

import { z } from 'zod';

import { NOUNS } from '../nouns.ts';

/** Workloads of every contestant, one application each. */
export const COMMON_WORKLOADS = ['hello', 'parameter', 'post', 'list', 'middlewares'] as const;

/** Workloads of contestants that have the same middleware as @fw/middleware. */
export const MIDDLEWARE_WORKLOADS = [
  'compress',
  'connect',
  'cookies',
  'cors',
  'etag',
  'forms',
  'request-context',
  'security-headers',
  'static-files',
] as const;

/** The bare workloads of some add-ons: `user` of `controller`, the others of a response contract. */
export const BASELINES = ['user', 'item', 'page'] as const;

/** Workloads with a response contract: for one item, and for a page of 100. */
export const CONTRACT_WORKLOADS = ['item-contract', 'page-contract'] as const;

/** All workloads. Those after the baselines are add-ons. */
export const WORKLOADS = [
  ...COMMON_WORKLOADS,
  ...BASELINES,
  'validated',
  'limited',
  'observed',
  'controller',
  ...CONTRACT_WORKLOADS,
  ...MIDDLEWARE_WORKLOADS,
] as const;
export type Workload = (typeof WORKLOADS)[number];

/** The bare workload of each add-on. */
export const BARE: Partial<Readonly<Record<Workload, Workload>>> = {
  validated: 'post',
  limited: 'hello',
  observed: 'hello',
  controller: 'user',
  'item-contract': 'item',
  'page-contract': 'page',
  compress: 'list',
  connect: 'hello',
  cookies: 'hello',
  cors: 'hello',
  etag: 'hello',
  forms: 'post',
  'request-context': 'hello',
  'security-headers': 'hello',
  'static-files': 'hello',
};

/** A request of the load generator and its expected response. */
export interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Sent as `application/json`, unless `headers` contains another type. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** The names of headers that the response must have. */
  readonly expectedHeaders?: readonly string[];
  /** The expected body, sent as `application/json`. */
  readonly expected: unknown;
}

export interface User {
  readonly name: string;
  readonly email: string;
  readonly role: string;
}

/** The resources of the `parameter` workload; each has one route, `/api/v1/<resource>/:id`. */
export const RESOURCES: readonly string[] = Array.from(
  { length: 200 },
  (_, index) => `${NOUNS[index % NOUNS.length]}${Math.floor(index / NOUNS.length) + 1}`,
);

/** The response of the `list` workload, serialized for each request. */
export const ITEMS = Array.from({ length: 20 }, (_, index) => ({
  id: index + 1,
  name: `Item ${index + 1}`,
  category: index % 2 === 0 ? 'books' : 'music',
  price: 9.95 + index,
  inStock: index % 3 !== 0,
}));

/** The response of the `page` workload; that of `item` is the first of them. */
export const PAGE = Array.from({ length: 5 }, () => ITEMS).flat();

/** The items of a store, with a field that no response contract declares. */
export const ROWS = PAGE.map((item) => ({ ...item, purchasePrice: item.price / 2 }));

/** The JSON Schema of an item. */
export const ITEM_SCHEMA = {
  type: 'object',
  required: ['id', 'name', 'category', 'price', 'inStock'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    category: { type: 'string' },
    price: { type: 'number' },
    inStock: { type: 'boolean' },
  },
};

/** The number of middlewares in the `middlewares` workload; each increments a counter. */
export const MIDDLEWARES = 10;

const NEW_USER = {
  name: 'Augusta Ada King, Lady Lovelace',
  email: 'ada.lovelace@example.org',
  role: 'mathematician',
};

/** The user in a request body; `undefined` unless every field is a non-empty string. */
export function readUser(body: unknown): User | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { name, email, role } = body as Record<string, unknown>;
  return isText(name) && isText(email) && isText(role) ? { name, email, role } : undefined;
}

/** The same check as `readUser`, for contestants that validate with zod. */
export const UserSchema = z.object({
  name: z.string().min(1),
  email: z.string().min(1),
  role: z.string().min(1),
});

/** A body that `readUser` and `UserSchema` reject; the expected response is 400. */
export const INVALID_BODY = JSON.stringify({ ...NEW_USER, email: '' });

/** The limit of the `limited` workload, which no contestant reaches. */
export const MAX_PER_MINUTE = 1_000_000_000;

/** The origin that the `cors` workload allows. */
export const ORIGIN = 'https://app.example.com';

/** The folder of the `static-files` workload. */
export const STATIC_ROOT = fileURLToPath(new URL('files', import.meta.url));

/** The secret of the `cookies` workload: each response sets a signed cookie. */
export const COOKIE_SECRET = 'a secret of the benchmark, 32 bytes';

/** The service of the `user` and `controller` workloads. */
export function findUser(id: string): { readonly id: string; readonly name: string } {
  return { id, name: `User ${id}` };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const HELLO: readonly Exchange[] = [
  { method: 'GET', path: '/', status: 200, expected: { hello: 'world' } },
];

/** The exchange of an add-on to `hello`. */
function helloWith(changes: Partial<Exchange>): readonly Exchange[] {
  return HELLO.map((exchange) => ({ ...exchange, ...changes }));
}

const CORS = helloWith({
  headers: { Origin: ORIGIN },
  expectedHeaders: ['access-control-allow-origin', 'vary'],
});

const LIST: readonly Exchange[] = [
  { method: 'GET', path: '/items', status: 200, expected: { data: ITEMS } },
];

const ITEM: readonly Exchange[] = [
  { method: 'GET', path: '/item', status: 200, expected: PAGE[0] },
];

const PAGE_OF_ITEMS: readonly Exchange[] = [
  { method: 'GET', path: '/items', status: 200, expected: { data: PAGE } },
];

const POST: readonly Exchange[] = [
  {
    method: 'POST',
    path: '/users',
    body: JSON.stringify(NEW_USER),
    status: 201,
    expected: { data: NEW_USER },
  },
];

const USER: readonly Exchange[] = Array.from({ length: 1_000 }, (_, index) => {
  const id = String(1_000 + index);
  return { method: 'GET', path: `/api/v1/users/${id}`, status: 200, expected: findUser(id) };
});

/** The exchanges of each workload. `parameter` requests every route in turn, with changing ids. */
export const EXCHANGES: Readonly<Record<Workload, readonly Exchange[]>> = {
  hello: HELLO,
  parameter: Array.from({ length: 5 }, (_, turn) =>
    shuffled(RESOURCES).map((resource, index) => {
      const id = String(1_000 + turn * RESOURCES.length + index);
      const path = `/api/v1/${resource}/${id}`;
      return { method: 'GET' as const, path, status: 200, expected: { resource, id } };
    }),
  ).flat(),
  post: POST,
  list: LIST,
  middlewares: [{ method: 'GET', path: '/', status: 200, expected: { count: MIDDLEWARES } }],
  user: USER,
  item: ITEM,
  page: PAGE_OF_ITEMS,
  validated: POST,
  limited: HELLO,
  observed: HELLO,
  controller: USER,
  'item-contract': ITEM,
  'page-contract': PAGE_OF_ITEMS,
  compress: LIST.map((exchange) => ({
    ...exchange,
    headers: { 'Accept-Encoding': 'gzip' },
    expectedHeaders: ['content-encoding', 'vary'],
  })),
  connect: CORS,
  cookies: helloWith({ headers: { Cookie: 'theme=dark' }, expectedHeaders: ['set-cookie'] }),
  cors: CORS,
  etag: helloWith({ expectedHeaders: ['etag'] }),
  forms: POST.map((exchange) => ({
    ...exchange,
    body: String(new URLSearchParams(NEW_USER)),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })),
  'request-context': HELLO,
  'security-headers': helloWith({
    expectedHeaders: ['content-security-policy', 'x-content-type-options'],
  }),
  'static-files': helloWith({ path: '/hello.json' }),
};

/** A fixed order in which neighbours are far apart: steps of 77, which has no common factor with 200. */
function shuffled(resources: readonly string[]): readonly string[] {
  return resources.map((_, index) => resources[(index * 77) % resources.length] ?? '');
}
