import { expect, test } from 'vitest';

import { describeUsage } from './usage.ts';

/** The metrics of a process with these requests to version 1. */
function metricsOf(requests: readonly (readonly [path: string, client: string, count: number])[]) {
  return [
    '# HELP api_requests_total Requests by version of the API and name of the client.',
    ...requests.map(
      ([path, client, count]) =>
        `api_requests_total{version="v1",path="${path}",client="${client}"} ${count}`,
    ),
    'api_requests_total{version="v2",path="/api/v2/users",client="billing"} 500',
    'http_requests_total{method="GET",route="/api/v1/users/:id",status="2xx"} 7',
    'http_requests_total{method="GET",route="/api/v1/users/:id",status="4xx"} 1',
    'http_requests_total{method="GET",route="/api/v2/users",status="2xx"} 500',
    'process_start_time_seconds 1795334400',
  ].join('\n');
}

test('the report adds the requests of all processes, and sorts the clients by them', () => {
  const metrics = [
    metricsOf([
      ['/api/v1/users', 'curl', 1],
      ['/api/v1/users', 'billing', 6],
    ]),
    metricsOf([
      ['/api/v1/users', 'curl', 2],
      ['/api/v1/catalog', 'none', 1],
    ]),
  ];

  expect(describeUsage('v1', metrics)).toBe(`\
Clients of v1 (counted by 2 processes, the newest since 2026-11-22 08:00:00 UTC)

API              Client   Requests   Share
/api/v1/users    billing         6  60.0 %
/api/v1/users    curl            3  30.0 %
/api/v1/catalog  none            1  10.0 %

Most requested         Requests
GET /api/v1/users/:id        16

none: clients that send neither X-Client-Id nor User-Agent
`);
});

test('a version without requests is one line', () => {
  expect(describeUsage('v1', [metricsOf([])])).toBe(
    'No client has used v1 (counted by 1 process, the newest since 2026-11-22 08:00:00 UTC)\n',
  );
});

test('clients after the first 100 are explained', () => {
  expect(describeUsage('v1', [metricsOf([['/api/v1/users', 'other', 3]])])).toContain(
    'other: all clients of a process after its first 100',
  );
});
