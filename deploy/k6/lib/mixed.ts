import { check } from 'k6';
import { scenario } from 'k6/execution';
import { Rate } from 'k6/metrics';

import { SERVICES } from '../../../services/services.ts';
import { asNewUser, newName, type RequestOptions, type Response, send } from './client.ts';
import { type Kind, objectiveOf } from './objectives.ts';

/** The requests to the services of this repository. */
const OWN_KINDS = [
  'GET /api/v2/catalog',
  'GET /api/v2/users',
  'GET /api/v1/catalog',
  'POST /api/v2/users',
  'GET /api/v2/catalog/facets',
  'GET /api/v1/users/:id',
  'GET /api/v2/reports',
  'GET /api/v2/reports/:id',
  'GET /api/v1/reports',
] as const satisfies readonly Kind[];

const serviceOf = (kind: Kind) => kind.split('/')[3];

/** Those of every service: of a further service its list. */
const ALL_KINDS: readonly Kind[] = [
  ...OWN_KINDS,
  ...SERVICES.filter(({ name }) => !OWN_KINDS.some((kind) => serviceOf(kind) === name)).map(
    ({ name, versions }): Kind => `GET /api/${versions.at(-1)}/${name}`,
  ),
];

/** The requests of `stress`, `spike` and `breakpoint`, each as often as the others; with `SERVICE`, those of one service. */
export const MIXED_KINDS: readonly Kind[] = ALL_KINDS.filter(
  (kind) => !__ENV.SERVICE || serviceOf(kind) === __ENV.SERVICE,
);
if (MIXED_KINDS.length === 0) {
  const names = SERVICES.map(({ name }) => name).join(', ');
  throw new RangeError(`SERVICE is "${__ENV.SERVICE}": expected ${names}`);
}

const slowerThanP95 = new Rate('slower_than_p95');
const slowerThanP99 = new Rate('slower_than_p99');

/** Creates the user of the read requests, if there are any; returns the id. */
export function createUser(): string {
  if (!MIXED_KINDS.includes('GET /api/v1/users/:id')) return '';
  const created = send('POST /api/v2/users', requestOf('POST /api/v2/users'));
  if (!created) throw new Error('Cannot create the user for the read requests');
  return String(created.json('data.id'));
}

/** Sends one request of the mixed load, and compares it with the objective of its kind. */
export function mixed(id: string): void {
  const kind = nextKind();
  const response = send(kind, requestOf(kind, id));
  const { p95Ms, p99Ms } = objectiveOf(kind);
  const durationMs = response?.timings.duration ?? Number.POSITIVE_INFINITY;
  slowerThanP95.add(durationMs > p95Ms);
  slowerThanP99.add(durationMs > p99Ms);
}

/** Sends one request of the mixed load to a system that may be overloaded. */
export function overloaded(id: string): void {
  const kind = nextKind();
  const request = requestOf(kind, id);
  const response = send(kind, { ...request, expect: [...(request.expect ?? [200]), 503] });
  if (!response) return;
  check(response, {
    'a response with 503 has Retry-After': ({ status, headers }: Response) =>
      status !== 503 || headers['Retry-After'] !== undefined,
  });
}

function nextKind(): Kind {
  return MIXED_KINDS[scenario.iterationInTest % MIXED_KINDS.length]!;
}

/** A request that depends on no other; `id` is that of a user. */
export function requestOf(kind: Kind, id = ''): RequestOptions {
  const [method = '', path = ''] = kind.split(' ');
  if (method === 'POST') {
    const body = { name: `Load ${newName()}`, email: `load-${newName()}@example.org` };
    // In version 2, a request with this key can be repeated; version 1 ignores it.
    return { body, headers: { 'idempotency-key': newName() }, expect: [201] };
  }
  if (path.endsWith('/facets')) return {};
  const service = SERVICES.find(({ name }) => serviceOf(kind) === name);
  if (service?.authenticated) return { id: 'overview', ...asNewUser() };
  return path.endsWith('/:id') ? { id } : { query: 'limit=10' };
}
