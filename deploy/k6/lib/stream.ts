import { check } from 'k6';
import { scenario } from 'k6/execution';
import { Rate } from 'k6/metrics';
import { newName, type RequestOptions, type Response, send } from './client.ts';
import { MIXED_KINDS } from './kinds.ts';
import { type Kind, objectiveOf } from './objectives.ts';
import { creation, report } from './requests.ts';

const slowerThanP95 = new Rate('slower_than_p95');
const slowerThanP99 = new Rate('slower_than_p99');
/** Multiplies the latency objectives. */
const FACTOR = Number(__ENV.LATENCY_FACTOR || 1);

/** Creates the user of the read requests; returns the id. */
export function createUser(): string {
  const created = send('POST /api/v2/users', creation());
  if (!created) throw new Error('Cannot create the user for the read requests');
  return String(created.json('data.id'));
}

/** Sends one request of the mixed load, and compares it with the objective of its kind. */
export function mixed(id: string): void {
  const kind = nextKind();
  const response = sendOne(kind, id);
  const { p95Ms, p99Ms } = objectiveOf(kind);
  const durationMs = response?.timings.duration ?? Number.POSITIVE_INFINITY;
  slowerThanP95.add(durationMs > p95Ms * FACTOR);
  slowerThanP99.add(durationMs > p99Ms * FACTOR);
}

/** Sends one request of the mixed load to a system that may be overloaded. */
export function overloaded(id: string): void {
  const response = sendOne(nextKind(), id, [503]);
  if (!response) return;
  check(response, {
    'a response with 503 has Retry-After': ({ status, headers }) =>
      status !== 503 || headers['Retry-After'] !== undefined,
  });
}

function nextKind(): Kind {
  return MIXED_KINDS[scenario.iterationInTest % MIXED_KINDS.length]!;
}

/** Sends one request that depends on no other; `id` is that of a user. `expected`: further statuses. */
function sendOne(kind: Kind, id: string, expected: readonly number[] = []): Response | undefined {
  const request = requestOf(kind, id);
  return send(kind, { ...request, expect: [...(request.expect ?? [200]), ...expected] });
}

/** Creates a user with a new `Idempotency-Key`: the request can be repeated. */
export function creationWithKey(): RequestOptions {
  return { ...creation(), headers: { 'idempotency-key': newName() } };
}

/** A request that depends on no other; `id` is that of a user. */
export function requestOf(kind: Kind, id: string): RequestOptions {
  switch (kind) {
    case 'POST /api/v2/users':
      return creationWithKey();
    case 'POST /api/v1/users':
      return creation();
    case 'GET /api/v1/users/:id':
      return { id };
    case 'GET /api/v2/catalog/facets':
      return {};
    case 'GET /api/v1/catalog':
      return { query: 'page=1&limit=10' };
    case 'GET /api/v1/reports':
    case 'GET /api/v2/reports':
      return report();
    case 'GET /api/v2/reports/:id':
      return { id: 'overview', ...report() };
    default:
      return { query: 'limit=10' };
  }
}
