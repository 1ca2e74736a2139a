import type { IncomingHttpHeaders, RequestListener } from 'node:http';

import { createServiceClient } from '@fw/service';
import { expect, test } from 'vitest';
import { ReportAnswer } from '../schemas.ts';
import { get, newApp } from '../testing/app.ts';
import { startHttpServer } from '../testing/http-server.ts';
import { CATALOG, USERS } from '../testing/statistics.ts';
import { createStatisticsReader } from './read-statistics.ts';

const OVERVIEW = '/api/v2/reports/overview';

const answers =
  (data: unknown): RequestListener =>
  (_, res) => {
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ data }));
  };

/** The API over a catalog that works, and over users that do what `listener` does. */
async function newSystem(users: RequestListener = answers(USERS), usersTimeoutMs = 10_000) {
  const asked: { url: string; headers: IncomingHttpHeaders }[] = [];
  const usersServer = await startHttpServer((req, res) => {
    asked.push({ url: req.url ?? '', headers: req.headers });
    return users(req, res);
  });
  const catalogServer = await startHttpServer(answers(CATALOG));
  const warnings: string[] = [];
  const clientOf = (name: string, baseUrl: string, timeoutMs = 10_000) =>
    createServiceClient({ name, baseUrl, timeoutMs, retryDelayMs: 1, openMs: 60_000 });
  const readStatistics = createStatisticsReader({
    users: clientOf('users', usersServer.url, usersTimeoutMs),
    catalog: clientOf('catalog', catalogServer.url),
  });
  const logger = { info() {}, warn: (text: string) => void warnings.push(text), error() {} };
  const app = newApp({ readStatistics, logger });
  return { app, asked, warnings, usersServer };
}

async function metaOf(response: Response) {
  return ReportAnswer.parse(await response.json()).meta;
}

test('statistics come from both services, with the request id and trace of the request', async () => {
  const { app, asked, warnings } = await newSystem();
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  const response = await get(app, OVERVIEW, { 'x-request-id': 'ada-1', traceparent });

  expect(await metaOf(response)).toEqual({ partial: false, missing: [] });
  expect(asked).toHaveLength(1);
  expect(asked[0]?.url).toBe('/api/v2/users/figures?days=30&domains=10');
  expect(asked[0]?.headers['x-request-id']).toBe('ada-1');
  expect(asked[0]?.headers.traceparent).toContain('0af7651916cd43dd8448eb211c80319c');
  expect(asked[0]?.headers).not.toHaveProperty('authorization');
  expect(warnings).toEqual([]);
});

test('a report reads only the statistics that it needs', async () => {
  const { app, asked } = await newSystem();

  const response = await get(app, '/api/v2/reports/items-by-category');

  expect(await metaOf(response)).toEqual({ partial: false, missing: [] });
  expect(asked).toEqual([]);
});

test.each<[string, RequestListener]>([
  ['answer 500', (_, res) => res.writeHead(500).end('{"data":{}}')],
  ['answer 503', (_, res) => res.writeHead(503, { 'retry-after': '1' }).end()],
  ['answer 404', (_, res) => res.writeHead(404).end()],
  ['lead elsewhere', (_, res) => res.writeHead(302, { location: '/' }).end()],
  ['hang', () => {}],
  ['do not end', (_, res) => void res.write('{"data":{')],
  ['hang up', (req) => req.socket.destroy()],
  ['answer no JSON', (_, res) => res.end('<html>')],
  ['answer nothing', (_, res) => res.end()],
  ['answer too much', (_, res) => res.end(`{"data":{},"x":"${'x'.repeat(2 * 1024 ** 2)}"}`)],
  ['answer null', answers(null)],
  ['answer a list', answers([])],
  ['leave something out', answers({ ...USERS, byDay: undefined })],
  ['count below nothing', answers({ ...USERS, total: -1 })],
  ['count in texts', answers({ ...USERS, total: '7' })],
  ['know no calendar', answers({ ...USERS, byDay: [{ date: '2026-02-31', count: 1 }] })],
  ['have too many days', answers({ ...USERS, byDay: Array(400).fill(USERS.byDay[0]) })],
])('where users %s the report is made without them', async (_, users) => {
  const { app, warnings } = await newSystem(users, 200);

  const response = await get(app, OVERVIEW);

  expect(response.status).toBe(200);
  expect(await metaOf(response)).toEqual({ partial: true, missing: ['users'] });
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/users/);
});

test('a name that is too long is cut', async () => {
  const byDomain = [
    { domain: 'x'.repeat(1_000), count: 2 },
    { domain: '', count: 1 },
  ];
  const { app } = await newSystem(answers({ ...USERS, total: 3, byDomain }));

  const response = await get(app, '/api/v2/reports/users-by-email-domain');

  const { data, meta } = ReportAnswer.parse(await response.json());
  expect(meta.partial).toBe(false);
  expect(data.rows).toEqual([
    { domain: 'x'.repeat(255), users: 2 },
    { domain: 'none', users: 1 },
  ]);
});

test('statistics of a service are missing while it is unavailable, and present after it recovers', async () => {
  let isAway = true;
  const { app } = await newSystem((req, res) => {
    if (isAway) req.socket.destroy();
    else answers(USERS)(req, res);
  });
  expect(await metaOf(await get(app, OVERVIEW))).toMatchObject({ missing: ['users'] });

  isAway = false;

  expect(await metaOf(await get(app, OVERVIEW))).toMatchObject({ missing: [] });
});

test('a failed call is retried once', async () => {
  let count = 0;
  const { app } = await newSystem((req, res) => {
    count++;
    if (count === 1) res.writeHead(503).end();
    else answers(USERS)(req, res);
  });

  expect(await metaOf(await get(app, OVERVIEW))).toMatchObject({ missing: [] });
});

test('after repeated failures a service is not called for a while', async () => {
  const { app, asked } = await newSystem((_, res) => res.writeHead(500).end());

  for (let count = 0; count < 30; count++) await get(app, OVERVIEW);

  expect(asked).toHaveLength(5);
});
