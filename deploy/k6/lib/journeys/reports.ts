import { check } from 'k6';

import { newName, send } from '../client.ts';
import { authorization, hasTokens } from '../token.ts';

/** Requests reports, with and without a token. */
export function reports(): void {
  const headers = authorization(`load-${newName()}`, 'pro');
  // With a single token, all requests share one user, who reaches the rate limit.
  const expect = hasTokens ? [200] : [200, 429];
  const get = (accept: string) => ({
    id: 'overview',
    headers: { ...headers, accept },
    expect,
  });

  send('GET /api/v2/reports', { expect: [401] });
  send('GET /api/v1/reports', { headers, expect });
  send('GET /api/v2/reports', { headers, expect });
  send('GET /api/v2/reports/:id', get('text/csv'));
  const report = send('GET /api/v2/reports/:id', get('application/json'));
  if (report?.status === 200) {
    check(report, {
      'a report has the numbers of both services': (response) =>
        response.json('meta.partial') === false,
    });
  }
}
