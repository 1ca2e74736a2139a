import type { IncomingHttpHeaders, RequestListener } from 'node:http';

import { createServiceClient } from '@fw/service';
import { recordLog } from '@fw/service/testing';
import { expect, test } from 'vitest';
import { startHttpServer } from '../../../framework/middleware/src/testing/http-server.ts';
import { createFiguresReader } from './read-figures.ts';
import { ReportResponse } from './schemas.ts';
import { CATALOG, get, newApp, USERS } from './testing.ts';

const OVERVIEW = '/api/v2/reports/overview';

const sends =
  (data: unknown): RequestListener =>
  (_, res) => {
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ data }));
  };

/** Creates the API with a working catalog service and a users service that responds with `users`. */
async function newSystem(users: RequestListener = sends(USERS), timeoutMs = 10_000) {
  const received: { url: string; headers: IncomingHttpHeaders }[] = [];
  const usersServer = await startHttpServer((req, res) => {
    received.push({ url: req.url ?? '', headers: req.headers });
    return users(req, res);
  });
  const catalogServer = await startHttpServer(sends(CATALOG));
  const readFigures = createFiguresReader({
    users: createServiceClient({ name: 'users', baseUrl: usersServer.url, timeoutMs }),
    catalog: createServiceClient({
      name: 'catalog',
      baseUrl: catalogServer.url,
      timeoutMs: 10_000,
    }),
  });
  const { lines: warnings, entries, logger } = recordLog();
  return { app: newApp({ readFigures, logger }), received, warnings, entries };
}

async function metaOf(response: Response) {
  return ReportResponse.parse(await response.json()).meta;
}

test('figures come from both services, with the request id and trace of the request', async () => {
  const { app, received, warnings } = await newSystem();
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  const response = await get(app, OVERVIEW, { 'x-request-id': 'ada-1', traceparent });

  expect(await metaOf(response)).toEqual({ partial: false, missing: [] });
  expect(received).toHaveLength(1);
  expect(received[0]?.url).toBe('/api/v2/users/figures?days=30&domains=10');
  expect(received[0]?.headers['x-request-id']).toBe('ada-1');
  expect(received[0]?.headers.traceparent).toContain('0af7651916cd43dd8448eb211c80319c');
  expect(received[0]?.headers).not.toHaveProperty('authorization');
  expect(warnings).toEqual([]);
});

test('a report reads only the figures that it needs', async () => {
  const { app, received } = await newSystem();

  const response = await get(app, '/api/v2/reports/items-by-category');

  expect(await metaOf(response)).toEqual({ partial: false, missing: [] });
  expect(received).toEqual([]);
});

test.each<[string, RequestListener]>([
  ['responds with 500', (_, res) => res.writeHead(500).end('{"data":{}}')],
  ['does not respond', () => {}],
  ['sends too large a body', (_, res) => res.end(`{"data":{},"x":"${'x'.repeat(2 * 1024 ** 2)}"}`)],
  ['sends null', sends(null)],
  ['omits a field', sends({ ...USERS, byDay: undefined })],
  ['sends a negative number', sends({ ...USERS, total: -1 })],
  ['sends a text instead of a number', sends({ ...USERS, total: '7' })],
  [
    'sends a date that does not exist',
    sends({ ...USERS, byDay: [{ date: '2026-02-31', count: 1 }] }),
  ],
  ['sends too many days', sends({ ...USERS, byDay: Array(400).fill(USERS.byDay[0]) })],
])('if users %s, the report is generated without its figures', async (_, users) => {
  const { app, warnings, entries } = await newSystem(users, 200);

  const response = await get(app, OVERVIEW);

  expect(response.status).toBe(200);
  expect(await metaOf(response)).toEqual({ partial: true, missing: ['users'] });
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/users/);
  expect(entries[0]?.fields).toMatchObject({ source: 'users' });
});

test('a name that is too long is truncated', async () => {
  const byDomain = [
    { domain: 'x'.repeat(1_000), count: 2 },
    { domain: '', count: 1 },
  ];
  const { app } = await newSystem(sends({ ...USERS, total: 3, byDomain }));

  const response = await get(app, '/api/v2/reports/users-by-email-domain');

  const { data, meta } = ReportResponse.parse(await response.json());
  expect(meta.partial).toBe(false);
  expect(data.rows).toEqual([
    { domain: 'x'.repeat(255), users: 2 },
    { domain: 'none', users: 1 },
  ]);
});
