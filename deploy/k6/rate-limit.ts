import { Counter } from 'k6/metrics';
import type { Options } from 'k6/options';

import { authorization, newName, send } from './lib/client.ts';
import { thresholdsOf } from './lib/objectives.ts';
import { COMMON, readCount } from './lib/options.ts';

/** Requests per minute and user that version 1 of reports allows. */
const LIMIT = 100;
const REQUESTS = readCount('REQUESTS', 300);

const passed = new Counter('requests_passed');
const limited = new Counter('requests_limited');

/** Many simultaneous requests of one user. */
export const options: Options = {
  scenarios: {
    burst: { executor: 'per-vu-iterations', vus: REQUESTS, iterations: 1, maxDuration: '30s' },
  },
  thresholds: {
    // k6 opens three hundred connections at the same moment.
    ...thresholdsOf(['GET /api/v1/reports'], { factor: 10 }),
    requests_passed: [`count==${Math.min(LIMIT, REQUESTS)}`],
    requests_limited: [`count==${Math.max(0, REQUESTS - LIMIT)}`],
  },
  ...COMMON,
};

/** Chooses the user of all requests. */
export function setup(): string {
  return `load-${newName()}`;
}

export default function burst(user: string): void {
  const headers = authorization(user, 'free');
  const response = send('GET /api/v1/reports', { headers, expect: [200, 429] });
  if (response) (response.status === 200 ? passed : limited).add(1);
}
