import { issueToken } from '../../deploy/local/token.ts';
import type { Exchange } from '../http/workloads.ts';

/** The secret that signs the tokens of the benchmark. */
export const JWT_SECRET = 'this secret signs only tokens of the benchmark';

/** One operation of a service, as the benchmark measures it. */
export interface Endpoint extends Pick<Exchange, 'method' | 'status' | 'body'> {
  readonly service: 'users' | 'catalog' | 'reports';
  readonly name: string;
  /** What it is compared with. Default `fastify`. */
  readonly peer?: 'node';
  /** The paths to request in turn; `userIds` are the ids of the users in the store. */
  paths(userIds: readonly string[]): readonly string[];
  /** The headers of all requests under one load, or of one compared request. */
  headers?(): Readonly<Record<string, string>>;
}

const GET = { method: 'GET', status: 200 } as const;
const ONE_USER = {
  ...GET,
  service: 'users',
  paths: (userIds: readonly string[]) => userIds.map((id) => `/api/v1/users/${id}`),
} as const;
let users = 0;

export const ENDPOINTS: readonly Endpoint[] = [
  { ...ONE_USER, name: 'GET v1/:id' },
  { ...ONE_USER, name: 'GET v1/:id, beside node:http', peer: 'node' },
  { ...ONE_USER, name: 'GET v1/:id, HTML', headers: () => ({ accept: 'text/html' }) },
  {
    service: 'users',
    name: 'POST v1',
    method: 'POST',
    paths: () => ['/api/v1/users'],
    status: 201,
    body: JSON.stringify({ name: 'Ada Lovelace', email: 'ada@example.org' }),
  },
  {
    ...GET,
    service: 'catalog',
    name: 'GET v1?page',
    paths: () => Array.from({ length: 60 }, (_, index) => `/api/v1/catalog?page=${index + 1}`),
  },
  {
    ...GET,
    service: 'catalog',
    name: 'GET v2/:id',
    paths: () => Array.from({ length: 1_000 }, (_, index) => `/api/v2/catalog/${index + 1}`),
  },
  {
    ...GET,
    service: 'reports',
    name: 'GET v2',
    paths: () => ['/api/v2/reports'],
    // A new user each time, so that no request exceeds the rate limit.
    headers: () => ({
      authorization: `Bearer ${issueToken({ secret: JWT_SECRET, user: `user-${users++}`, tier: 'pro' })}`,
    }),
  },
];

export const SERVICES = [...new Set(ENDPOINTS.map(({ service }) => service))];
