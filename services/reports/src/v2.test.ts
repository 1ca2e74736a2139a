import { request } from '@fw/core/testing';
import { expect, test } from 'vitest';

import { PAGE_POLICY } from './formats/page.ts';
import { ReportList, ReportResponse } from './schemas.ts';
import { CATALOG, get, NOW, newApp, USERS } from './testing.ts';

const V2 = '/api/v2/reports';

test('GET lists the reports with a link per format', async () => {
  const response = await get(newApp(), V2);

  expect(response.status).toBe(200);
  const { data, meta } = ReportList.parse(await response.json());
  expect(data.map(({ id }) => id)).toEqual([
    'overview',
    'users-by-day',
    'users-by-email-domain',
    'items-by-category',
    'prices-by-category',
  ]);
  expect(data[1]).toEqual({
    id: 'users-by-day',
    title: 'Users by day',
    description: 'How many users were created on each of the last 30 days.',
    links: ['application/json', 'text/csv', 'text/html'].map((type) => ({
      href: '/api/v2/reports/users-by-day',
      type,
    })),
  });
  expect(meta).toEqual({ total: 5 });
});

test.each([undefined, '*/*', 'application/json', 'text/html;q=0.5, application/*'])(
  'GET /:id with Accept %j returns JSON',
  async (accept) => {
    const response = await get(newApp(), `${V2}/users-by-day`, accept ? { accept } : {});

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('vary')).toBe('Accept');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { data, meta } = ReportResponse.parse(await response.json());
    expect(data).toEqual({
      id: 'users-by-day',
      title: 'Users by day',
      description: 'How many users were created on each of the last 30 days.',
      generatedAt: NOW.toISOString(),
      columns: [
        { name: 'date', title: 'Day', kind: 'date' },
        { name: 'users', title: 'New users', kind: 'count' },
      ],
      rows: USERS.byDay.map(({ date, count }) => ({ date, users: count })),
    });
    expect(meta).toEqual({ partial: false, missing: [] });
  },
);

test.each([
  [
    'overview',
    [
      { source: 'users', measure: 'Users', value: 1_287 },
      { source: 'users', measure: 'New users in 30 days', value: 1_037 },
      { source: 'catalog', measure: 'Items', value: 728 },
      { source: 'catalog', measure: 'Categories', value: 6 },
    ],
  ],
  [
    'users-by-email-domain',
    [
      { domain: 'example.org', users: 611 },
      { domain: 'example.com', users: 402 },
      { domain: 'mail.example.net', users: 97 },
      { domain: 'all others', users: 177 },
    ],
  ],
  ['items-by-category', CATALOG.byCategory.map(({ category, items }) => ({ category, items }))],
  ['prices-by-category', CATALOG.byCategory.map(({ items, ...prices }) => prices)],
])('the rows of %s', async (id, rows) => {
  const { data } = ReportResponse.parse(await (await get(newApp(), `${V2}/${id}`)).json());

  expect(data.rows).toEqual(rows);
});

test('items of one category in two currencies are counted together, prices separately', async () => {
  const [kitchen] = CATALOG.byCategory;
  const byCategory = [
    { ...kitchen!, items: 5 },
    { ...kitchen!, category: 'Toys', items: 4 },
    { ...kitchen!, category: 'Toys', items: 3, currency: 'CHF' },
  ];
  const app = newApp({ figures: { catalog: { total: 12, byCategory } } });

  const items = ReportResponse.parse(await (await get(app, `${V2}/items-by-category`)).json());
  const page = await (await get(app, `${V2}/prices-by-category`, { accept: 'text/html' })).text();

  expect(items.data.rows).toEqual([
    { category: 'Toys', items: 7 },
    { category: 'Kitchen', items: 5 },
  ]);
  expect(page).toContain('Prices by category, in EUR');
  expect(page).toContain('Prices by category, in CHF');
});

test('GET /:id with Accept text/csv returns a file with a header line', async () => {
  const response = await get(newApp(), `${V2}/items-by-category`, { accept: 'text/csv' });

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
  expect(response.headers.get('content-disposition')).toBe(
    'attachment; filename="items-by-category-2026-11-21.csv"',
  );
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('vary')).toBe('Accept');
  expect(await response.text()).toBe(
    'category,items\r\nKitchen,212\r\nOutdoor,174\r\nAudio,133\r\nHome Office,101\r\nBooks,96\r\nToys,12\r\n',
  );
});

test('GET /:id from a browser returns a page whose policy allows only its own style', async () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  const response = await get(newApp(), `${V2}/overview`, { accept });

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('content-security-policy')).toBe(PAGE_POLICY);
  expect(response.headers.get('vary')).toBe('Accept');
  const page = await response.text();
  expect(page).toMatch(/^<!doctype html>/);
  expect(page).not.toMatch(/<script| style=| on[a-z]+=/i);
});

test.each(['users', 'catalog'] as const)(
  'without the figures of %s the overview is partial and names the source',
  async (source) => {
    const app = newApp({ figures: { users: USERS, catalog: CATALOG, [source]: undefined } });
    const overview = (accept: string) => get(app, `${V2}/overview`, { accept });

    const { data, meta } = ReportResponse.parse(await (await overview('application/json')).json());
    const csv = await overview('text/csv');
    const page = await (await overview('text/html')).text();

    expect(meta).toEqual({ partial: true, missing: [source] });
    expect(data.rows).toHaveLength(2);
    expect(JSON.stringify(data.rows)).not.toContain(source);
    expect(csv.headers.get('content-disposition')).toContain('2026-11-21-partial.csv');
    expect(await csv.text()).toMatch(new RegExp(`\r\nmissing: ${source},,\r\n$`));
    expect(page).toContain('This report is partial.');
    expect(page).toContain(`There are no figures from ${source} at the moment.`);
  },
);

test.each(['application/json', 'text/csv', 'text/html'])(
  'without any figures a report as %s is empty and marked as partial',
  async (accept) => {
    const response = await get(newApp({ figures: {} }), `${V2}/overview`, { accept });

    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/missing.*users.*catalog/s);
  },
);

test.each([
  'overview',
  'users-by-day',
  'users-by-email-domain',
  'items-by-category',
  'prices-by-category',
])('the page of %s is generated for a system without users or items', async (id) => {
  const users = { total: 0, byDay: [{ date: '2026-11-21', count: 0 }], byDomain: [] };
  const app = newApp({ figures: { users, catalog: { total: 0, byCategory: [] } } });

  const response = await get(app, `${V2}/${id}`, { accept: 'text/html' });

  expect(response.status).toBe(200);
  expect(await response.text()).not.toMatch(/NaN|undefined|Infinity/);
});

test('GET /:id with an Accept that allows no format responds with 406', async () => {
  const response = await get(newApp(), `${V2}/overview`, { accept: 'application/pdf' });

  expect(response.status).toBe(406);
  expect(response.headers.get('vary')).toBe('Accept');
  expect(await response.json()).toMatchObject({ code: 'NOT_ACCEPTABLE' });
});

test.each(['revenue', 'constructor', 'Overview'])(
  'GET %s responds with 404 and the id',
  async (id) => {
    const response = await get(newApp(), `${V2}/${id}`);

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      code: 'NOT_FOUND',
      detail: `Report "${id}" not found`,
    });
  },
);

test.each([V2, `${V2}/overview`, `${V2}/unknown`])(
  'GET %s without a token responds with 401',
  async (path) => {
    const response = await request(newApp(), path);

    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  },
);
