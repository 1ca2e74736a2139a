import { z } from 'zod';
import { NOUNS } from '../nouns.ts';

/** What is asked of every contestant; one application each, so that none carries another's routes. */
export const COMMON_WORKLOADS = ['hello', 'parameter', 'post', 'list', 'middlewares'] as const;

/** All workloads: `user` is there for what `controller` is compared to, the last three are add-ons. */
export const WORKLOADS = [
  ...COMMON_WORKLOADS,
  'user',
  'validated',
  'limited',
  'observed',
  'controller',
] as const;
export type Workload = (typeof WORKLOADS)[number];

/** The workloads that add something to another one, with that other one. */
export const BARE: Partial<Readonly<Record<Workload, Workload>>> = {
  validated: 'post',
  limited: 'hello',
  observed: 'hello',
  controller: 'user',
};

/** What the load generator sends, and what each request must be answered with. */
export interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Sent as `application/json`. */
  readonly body?: string;
  readonly status: number;
  /** The answer, which must be `application/json`. */
  readonly answer: unknown;
}

export interface User {
  readonly name: string;
  readonly email: string;
  readonly role: string;
}

/** The resources of the `parameter` workload, each of which is one route: `/api/v1/<resource>/:id`. */
export const RESOURCES: readonly string[] = Array.from(
  { length: 200 },
  (_, index) => `${NOUNS[index % NOUNS.length]}${Math.floor(index / NOUNS.length) + 1}`,
);

/** What the `list` workload answers, turned into JSON for each request. */
export const ITEMS = Array.from({ length: 20 }, (_, index) => ({
  id: index + 1,
  name: `Item ${index + 1}`,
  category: index % 2 === 0 ? 'books' : 'music',
  price: 9.95 + index,
  inStock: index % 3 !== 0,
}));

/** How many middlewares run before the handler of the `middlewares` workload, each counting itself. */
export const MIDDLEWARES = 10;

const NEW_USER = {
  name: 'Augusta Ada King, Lady Lovelace',
  email: 'ada.lovelace@example.org',
  role: 'mathematician',
};

/** The user in a request body, if every field is a string with something in it. */
export function readUser(body: unknown): User | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { name, email, role } = body as Record<string, unknown>;
  return isText(name) && isText(email) && isText(role) ? { name, email, role } : undefined;
}

/** The same check as `readUser`, for those that validate by zod. */
export const UserSchema = z.object({
  name: z.string().min(1),
  email: z.string().min(1),
  role: z.string().min(1),
});

/** A body that `readUser` and `UserSchema` refuse, to be answered 400. */
export const REFUSED_BODY = JSON.stringify({ ...NEW_USER, email: '' });

/** How much passes per minute in the `limited` workload: more than any contestant answers. */
export const MAX_PER_MINUTE = 1_000_000_000;

/** What the service of the `user` and the `controller` workload finds. */
export function findUser(id: string): { readonly id: string; readonly name: string } {
  return { id, name: `User ${id}` };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const HELLO: readonly Exchange[] = [
  { method: 'GET', path: '/', status: 200, answer: { hello: 'world' } },
];

const POST: readonly Exchange[] = [
  {
    method: 'POST',
    path: '/users',
    body: JSON.stringify(NEW_USER),
    status: 201,
    answer: { data: NEW_USER },
  },
];

const USER: readonly Exchange[] = Array.from({ length: 1_000 }, (_, index) => {
  const id = String(1_000 + index);
  return { method: 'GET', path: `/api/v1/users/${id}`, status: 200, answer: findUser(id) };
});

/** What is sent in each workload. `parameter` asks for every route in turn, with changing ids. */
export const EXCHANGES: Readonly<Record<Workload, readonly Exchange[]>> = {
  hello: HELLO,
  parameter: Array.from({ length: 5 }, (_, turn) =>
    shuffled(RESOURCES).map((resource, index) => {
      const id = String(1_000 + turn * RESOURCES.length + index);
      const path = `/api/v1/${resource}/${id}`;
      return { method: 'GET' as const, path, status: 200, answer: { resource, id } };
    }),
  ).flat(),
  post: POST,
  list: [{ method: 'GET', path: '/items', status: 200, answer: { data: ITEMS } }],
  middlewares: [{ method: 'GET', path: '/', status: 200, answer: { count: MIDDLEWARES } }],
  user: USER,
  validated: POST,
  limited: HELLO,
  observed: HELLO,
  controller: USER,
};

/** In an order without a pattern, the same in each run: a step that shares no factor with 200. */
function shuffled(resources: readonly string[]): readonly string[] {
  return resources.map((_, index) => resources[(index * 77) % resources.length] ?? '');
}
