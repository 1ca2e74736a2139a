import { Counter } from 'k6/metrics';

import { newName, send } from './lib/client.ts';
import { PROFILES } from './lib/profiles.ts';
import { summaryOf } from './lib/summary.ts';
import { authorization } from './lib/token.ts';

export const options = PROFILES['rate-limit'](__ENV);
export const handleSummary = summaryOf('rate-limit');

const passed = new Counter('requests_passed');
const limited = new Counter('requests_limited');

/** Names the user whom all of them are. */
export function setup(): string {
  return `load-${newName()}`;
}

export default function burst(user: string): void {
  const headers = authorization(user, 'free');
  const answer = send('GET /api/v1/reports', { headers, expect: [200, 429] });
  if (answer) (answer.status === 200 ? passed : limited).add(1);
}
