import { scenario } from 'k6/execution';

import type { Kind } from '../slo.ts';
import { newName, type RequestOptions, send } from './lib/client.ts';
import { PROFILES, ROLLOUT_KINDS } from './lib/profiles.ts';
import { authorization, hasTokens } from './lib/token.ts';

export const options = PROFILES.rollout(__ENV);

/** Creates the user of the read requests. */
export function setup(): string {
  const body = { name: 'Rollout', email: `rollout-${newName()}@example.org` };
  const created = send('POST /api/v2/users', { body, expect: [201] });
  if (!created) throw new Error('Cannot create the user for the read requests');
  return String(created.json('data.id'));
}

/** Sends one request; every second one creates a user. */
export default function stream(id: string): void {
  const number = scenario.iterationInTest;
  const turn = Math.floor(number / 2);
  const { creating, reading } = ROLLOUT_KINDS;
  const kinds: readonly Kind[] = number % 2 === 0 ? creating : reading;
  const kind = kinds[turn % kinds.length]!;
  send(kind, requestOf(kind, id));
}

function requestOf(kind: Kind, id: string): RequestOptions {
  const page = { query: 'page=1&limit=10' };
  switch (kind) {
    case 'POST /api/v2/users':
      return { ...creation(), headers: { 'idempotency-key': newName() } };
    case 'POST /api/v1/users':
      return creation();
    case 'GET /api/v1/users/:id':
      return { id };
    case 'GET /api/v1/catalog':
      return page;
    case 'GET /api/v1/reports':
    case 'GET /api/v2/reports':
      // With a single token, all requests share one user, who reaches the rate limit.
      return {
        headers: authorization(`rollout-${newName()}`, 'pro'),
        expect: hasTokens ? [200] : [200, 429],
      };
    default:
      return { query: 'limit=10' };
  }
}

function creation(): RequestOptions {
  const body = { name: 'Rollout', email: `rollout-${newName()}@example.org` };
  return { body, expect: [201] };
}
