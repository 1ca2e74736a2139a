import { issueToken } from '../../deploy/local/token.ts';
import type { Exchange } from '../http/workloads.ts';

/** The secret that signs the tokens of the benchmark. */
export const JWT_SECRET = 'this secret signs only tokens of the benchmark';

/** One operation of a service, as the benchmark measures it. */
export interface Endpoint {
  readonly service: 'users' | 'catalog' | 'reports';
  readonly name: string;
  readonly method: Exchange['method'];
  /** The paths to request in turn; `userIds` are the ids of the users in the store. */
  paths(userIds: readonly string[]): readonly string[];
  readonly status: number;
  readonly body?: string;
  /** The headers of all requests of one round; called once per round. */
  headers?(): Readonly<Record<string, string>>;
}

let users = 0;

export const ENDPOINTS: readonly Endpoint[] = [
  {
    service: 'users',
    name: 'GET v1/:id',
    method: 'GET',
    paths: (userIds) => userIds.map((id) => `/api/v1/users/${id}`),
    status: 200,
  },
  {
    service: 'users',
    name: 'GET v1/:id, HTML',
    method: 'GET',
    paths: (userIds) => userIds.map((id) => `/api/v1/users/${id}`),
    status: 200,
    headers: () => ({ accept: 'text/html' }),
  },
  {
    service: 'users',
    name: 'POST v1',
    method: 'POST',
    paths: () => ['/api/v1/users'],
    status: 201,
    body: JSON.stringify({ name: 'Ada Lovelace', email: 'ada@example.org' }),
  },
  {
    service: 'catalog',
    name: 'GET v1?page',
    method: 'GET',
    paths: () => Array.from({ length: 60 }, (_, index) => `/api/v1/catalog?page=${index + 1}`),
    status: 200,
  },
  {
    service: 'catalog',
    name: 'GET v2/:id',
    method: 'GET',
    paths: () => Array.from({ length: 1_000 }, (_, index) => `/api/v2/catalog/${index + 1}`),
    status: 200,
  },
  {
    service: 'reports',
    name: 'GET v2',
    method: 'GET',
    paths: () => ['/api/v2/reports'],
    status: 200,
    // A new user per round, so that no request exceeds the rate limit.
    headers: () => ({
      authorization: `Bearer ${issueToken({ secret: JWT_SECRET, user: `user-${users++}`, tier: 'pro' })}`,
    }),
  },
];
