import { check } from 'k6';

import { asNewUser, send } from '../../deploy/k6/lib/client.ts';

/** Requests reports, with and without a token. */
export function journey(): void {
  const { headers, expect } = asNewUser();
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
