import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';

import { issueToken } from '../../deploy/local/token.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { resourceName } from '../router/routes.ts';

/** Workloads of every contestant, one application each. */
export const COMMON_WORKLOADS = ['hello', 'parameter', 'post', 'list', 'middlewares'] as const;

/** The workloads that are compared with `raw`. Not every contestant has the last two. */
export const COMPARED_WORKLOADS = [...COMMON_WORKLOADS, 'upload', 'static'] as const;

/** Each add-on, with the bare workload that it extends. */
const ADD_ON_TO = {
  validated: 'post',
  limited: 'hello',
  observed: 'hello',
  controller: 'user',
  'item-contract': 'item',
  'page-contract': 'page',
  'bearer-token': 'hello',
  connect: 'hello',
  cookies: 'hello',
  cors: 'hello',
  etag: 'hello',
  forms: 'post',
  'request-context': 'hello',
  'security-headers': 'hello',
} as const;

export type BareWorkload = (typeof COMPARED_WORKLOADS)[number] | 'user' | 'item' | 'page';
export type AddOn = keyof typeof ADD_ON_TO;
export type Workload = BareWorkload | AddOn;

export const ADD_ONS = Object.keys(ADD_ON_TO) as readonly AddOn[];

/** All workloads. `user`, `item` and `page` are only references of their add-ons. */
export const WORKLOADS: readonly Workload[] = [
  ...COMPARED_WORKLOADS,
  ...(['user', 'item', 'page'] as const),
  ...ADD_ONS,
];

/** The bare workload that an add-on is compared with; any other workload is its own. */
export function bareOf(workload: Workload): BareWorkload {
  return workload in ADD_ON_TO ? ADD_ON_TO[workload as AddOn] : (workload as BareWorkload);
}

/** A request of the load generator and its expected response. */
export interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Sent as `application/json`, unless `headers` contains another type. */
  readonly body?: string;
  /** A body for which the response must be 400. */
  readonly invalidBody?: string;
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
export const RESOURCES = Array.from({ length: 200 }, (_, index) => resourceName(index));

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

/** The root of this repository. */
export const ROOT_FOLDER = resolve(import.meta.dirname, '../..');

/** The folder of the `static` workload. */
export const SERVICES_FOLDER = join(ROOT_FOLDER, 'services');

/** The paths of its files: the OpenAPI documents of the services, 13 to 40 KiB. */
export const FILES = SERVICE_NAMES.flatMap((name) =>
  ['v1', 'v2'].map((version) => `/services/${name}/openapi/${version}.json`),
);

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

/** The same as `readUser`, with zod. */
export function parseUser(body: unknown): User | undefined {
  return UserSchema.safeParse(body).data;
}

/** A body that `readUser` and `UserSchema` reject. */
const INVALID_BODY = JSON.stringify({ ...NEW_USER, email: '' });

/** The limit of the `limited` workload, which no contestant reaches. */
export const MAX_PER_MINUTE = 1_000_000_000;

/** The origin that the `cors` workload allows. */
export const ORIGIN = 'https://app.example.com';

/** The secret of the `cookies` workload: each response sets a signed cookie. */
export const COOKIE_SECRET = 'a secret of the benchmark, 32 bytes';

/** What verifies the token of the `bearer-token` workload, which is signed with HS256. */
export const TOKEN = {
  secret: 'another secret of the benchmark, 32 bytes',
  issuer: 'fw',
  audience: 'reports',
};

/** The service of the `user` and `controller` workloads. */
export function findUser(id: string): { readonly id: string; readonly name: string } {
  return { id, name: `User ${id}` };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const UPLOAD_BYTES = 256 * 1024;

/** `parameter` requests every route in turn, with changing ids. */
const BARE_EXCHANGES: Readonly<Record<BareWorkload, readonly Exchange[]>> = {
  hello: [get('/', { hello: 'world' })],
  parameter: Array.from({ length: 5 }, (_, turn) =>
    shuffled(RESOURCES).map((resource, index) => {
      const id = String(1_000 + turn * RESOURCES.length + index);
      return get(`/api/v1/${resource}/${id}`, { resource, id });
    }),
  ).flat(),
  post: [
    {
      method: 'POST',
      path: '/users',
      body: JSON.stringify(NEW_USER),
      invalidBody: INVALID_BODY,
      status: 201,
      expected: { data: NEW_USER },
    },
  ],
  list: [get('/items', { data: ITEMS })],
  middlewares: [get('/', { count: MIDDLEWARES })],
  upload: [
    {
      method: 'POST',
      path: '/upload',
      headers: { 'Content-Type': 'application/octet-stream' },
      body: 'x'.repeat(UPLOAD_BYTES),
      status: 200,
      expected: { bytes: UPLOAD_BYTES },
    },
  ],
  static: FILES.map((path) => get(path, JSON.parse(readFileSync(join(ROOT_FOLDER, path), 'utf8')))),
  user: Array.from({ length: 1_000 }, (_, index) => {
    const id = String(1_000 + index);
    return get(`/api/v1/users/${id}`, findUser(id));
  }),
  item: [get('/item', PAGE[0])],
  page: [get('/items', { data: PAGE })],
};

function get(path: string, expected: unknown): Exchange {
  return { method: 'GET', path, status: 200, expected };
}

const CORS = {
  headers: { Origin: ORIGIN },
  expectedHeaders: ['access-control-allow-origin', 'vary'],
};

/** What add-ons change in the exchanges of their bare workload. */
const CHANGES: Partial<Readonly<Record<Workload, Partial<Exchange>>>> = {
  'bearer-token': {
    headers: {
      Authorization: `Bearer ${issueToken({ secret: TOKEN.secret, user: 'ada', tier: 'pro' })}`,
    },
  },
  connect: CORS,
  cookies: { headers: { Cookie: 'theme=dark' }, expectedHeaders: ['set-cookie'] },
  cors: CORS,
  etag: { expectedHeaders: ['etag'] },
  forms: {
    body: String(new URLSearchParams(NEW_USER)),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  },
  'security-headers': { expectedHeaders: ['content-security-policy', 'x-content-type-options'] },
};

/** The exchanges of a workload, which the load generator sends in turn. */
export function exchangesOf(workload: Workload): readonly Exchange[] {
  const changes = CHANGES[workload];
  return BARE_EXCHANGES[bareOf(workload)].map((exchange) => ({ ...exchange, ...changes }));
}

/** A fixed order in which neighbours are far apart: steps of 77, which has no common factor with 200. */
function shuffled(resources: readonly string[]): readonly string[] {
  return resources.map((_, index) => resources[(index * 77) % resources.length] ?? '');
}
