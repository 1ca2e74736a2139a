import { Counter } from 'k6/metrics';

import { newName, send } from './lib/client.ts';
import { PROFILES } from './lib/profiles.ts';
import { authorization } from './lib/token.ts';

export const options = PROFILES['rate-limit'](__ENV);

const passed = new Counter('requests_passed');
const limited = new Counter('requests_limited');

/** Chooses the user of all requests. */
export function setup(): string {
  return `load-${newName()}`;
}

export default function burst(user: string): void {
  const headers = authorization(user, 'free');
  const response = send('GET /api/v1/reports', { headers, expect: [200, 429] });
  if (response) (response.status === 200 ? passed : limited).add(1);
}
