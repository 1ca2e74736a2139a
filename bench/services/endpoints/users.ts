import type { User } from '@fw/users/src/user.ts';

import { type Endpoint, NUMBER, type ServiceRequest } from '../endpoint.ts';
import { walk } from './walk.ts';

const JANUARY = Date.UTC(2026, 0);

/** The users that every contestant begins with. */
export const USERS: readonly User[] = Array.from({ length: 200 }, (_, index) => {
  const createdAt = new Date(JANUARY + index * 60_000);
  return {
    id: `5eed0000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    name: `User ${index}`,
    email: `user.${index}@example.org`,
    createdAt,
    updatedAt: createdAt,
    version: 1,
  };
});

const V1 = '/api/v1/users';
const V2 = '/api/v2/users';

const JSON_TYPE = { 'content-type': 'application/json' };

const NEW_USER = JSON.stringify({ name: 'Ada Lovelace', email: `ada.${NUMBER}@example.org` });

/** Of many users one after the other, in an order without a pattern. */
function each(
  make: (id: string) => ServiceRequest,
  users: readonly User[] = USERS,
): readonly ServiceRequest[] {
  return users.map((_, index) => make(users[(index * 77) % users.length]?.id ?? ''));
}

const post = (path: string, body: string, headers = {}): ServiceRequest => ({
  method: 'POST',
  path,
  headers: { ...JSON_TYPE, ...headers },
  body,
});

const change = (method: 'PUT' | 'PATCH', path: string): ServiceRequest => ({
  method,
  path,
  headers: JSON_TYPE,
  body: JSON.stringify({ name: `Ada ${NUMBER}` }),
});

/** What only reads comes first: what writes makes the lists longer. */
export const USERS_ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'GET v1',
    status: 200,
    requests: () => [{ method: 'GET', path: V1 }],
  },
  {
    name: 'GET v1?page',
    status: 200,
    requests: () =>
      Array.from({ length: 10 }, (_, index) => ({
        method: 'GET',
        path: `${V1}?page=${((index * 7) % 10) + 1}&limit=20`,
      })),
    refuses: [[{ method: 'GET', path: `${V1}?page=0` }, 400]],
  },
  {
    name: 'GET v1/:id',
    status: 200,
    requests: () => each((id) => ({ method: 'GET', path: `${V1}/${id}` })),
    refuses: [[{ method: 'GET', path: `${V1}/nobody` }, 404]],
  },
  {
    name: 'GET v1/:id, HTML',
    status: 200,
    requests: () =>
      each((id) => ({ method: 'GET', path: `${V1}/${id}`, headers: { accept: 'text/html' } })),
  },
  {
    name: 'GET v2',
    status: 200,
    requests: (ask) => walk(ask, `${V2}?limit=20`, 40),
    refuses: [
      [{ method: 'GET', path: `${V2}?limit=0` }, 400],
      [{ method: 'GET', path: `${V2}?cursor=mine` }, 400],
    ],
  },
  {
    name: 'GET v2?email',
    status: 200,
    requests: () =>
      USERS.map(({ email }) => ({
        method: 'GET',
        path: `${V2}?email=${encodeURIComponent(email.toUpperCase())}`,
      })),
  },
  {
    name: 'GET v2/figures',
    status: 200,
    requests: () => [{ method: 'GET', path: `${V2}/figures` }],
  },
  {
    name: 'GET v2/:id',
    status: 200,
    requests: () => each((id) => ({ method: 'GET', path: `${V2}/${id}` })),
    refuses: [
      [{ method: 'GET', path: `${V2}/nobody` }, 404],
      [{ method: 'GET', path: `${V2}/nobody`, headers: { accept: 'image/png' } }, 406],
    ],
  },
  {
    name: 'GET v2/:id, 304',
    status: 304,
    requests: () =>
      each((id) => ({
        method: 'GET',
        path: `${V2}/${id}`,
        headers: { 'if-none-match': '"1"' },
      })),
  },
  {
    name: 'PUT v1/:id',
    status: 200,
    requests: () => each((id) => change('PUT', `${V1}/${id}`), USERS.slice(0, 100)),
  },
  {
    name: 'PATCH v2/:id',
    status: 200,
    requests: () => each((id) => change('PATCH', `${V2}/${id}`), USERS.slice(100)),
    refuses: [
      [{ ...change('PATCH', `${V2}/nobody`), body: '{"name":null}' }, 400],
      [{ ...change('PATCH', `${V2}/nobody`) }, 404],
    ],
  },
  {
    name: 'POST v1',
    status: 201,
    requests: () => [post(V1, NEW_USER)],
    refuses: [[post(V1, '{"name":"Ada"}'), 400]],
  },
  {
    name: 'POST v1, DELETE v1/:id',
    status: 201,
    requests: () => [post(V1, NEW_USER)],
    thenDeletes: `${V1}/`,
  },
  {
    name: 'POST v2',
    status: 201,
    requests: () => [post(V2, NEW_USER)],
    refuses: [
      [post(V2, '{"name":"Ada","email":"nowhere"}'), 400],
      [post(V2, '{"name":"Ada","email":"USER.7@example.org"}'), 409],
    ],
  },
  {
    name: 'POST v2, Idempotency-Key',
    status: 201,
    requests: () => [post(V2, NEW_USER, { 'idempotency-key': NUMBER })],
    refuses: [[post(V2, NEW_USER, { 'idempotency-key': 'ä'.repeat(3) }), 400]],
  },
  {
    name: 'POST v2, DELETE v2/:id',
    status: 201,
    requests: () => [post(V2, NEW_USER)],
    thenDeletes: `${V2}/`,
  },
];
