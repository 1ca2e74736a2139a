import type { Chart } from './formats/chart.ts';
import type { ReportKind } from './report.ts';
import type { CatalogStatistics, UserStatistics } from './statistics/statistics.ts';

const USERS_BY_DAY: ReportKind = {
  id: 'users-by-day',
  title: 'Users by day',
  description: 'How many users were created on each of the last 30 days.',
  sources: ['users'],
  columns: [
    { name: 'date', title: 'Day', kind: 'date' },
    { name: 'users', title: 'New users', kind: 'count' },
  ],
  rows: ({ users }) => (users?.byDay ?? []).map(({ date, count }) => ({ date, users: count })),
  charts: ({ users }) => (users ? [newUsersChart(users)] : []),
};

const USERS_BY_EMAIL_DOMAIN: ReportKind = {
  id: 'users-by-email-domain',
  title: 'Users by e-mail domain',
  description: 'How many users there are of each e-mail domain, the largest first.',
  sources: ['users'],
  columns: [
    { name: 'domain', title: 'E-mail domain', kind: 'text' },
    { name: 'users', title: 'Users', kind: 'count' },
  ],
  rows: ({ users }) => domainsOf(users),
  charts: ({ users }) =>
    users
      ? [
          {
            kind: 'bars',
            title: 'Users by e-mail domain',
            bars: domainsOf(users).map(({ domain, users: value }) => ({ label: domain, value })),
          },
        ]
      : [],
};

const ITEMS_BY_CATEGORY: ReportKind = {
  id: 'items-by-category',
  title: 'Items by category',
  description: 'How many items the catalog has in each category.',
  sources: ['catalog'],
  columns: [
    { name: 'category', title: 'Category', kind: 'text' },
    { name: 'items', title: 'Items', kind: 'count' },
  ],
  rows: ({ catalog }) => categoriesOf(catalog),
  charts: ({ catalog }) => (catalog ? [itemsChart(catalog)] : []),
};

const PRICES_BY_CATEGORY: ReportKind = {
  id: 'prices-by-category',
  title: 'Prices by category',
  description: 'The lowest, the median and the highest price in each category of the catalog.',
  sources: ['catalog'],
  columns: [
    { name: 'category', title: 'Category', kind: 'text' },
    { name: 'currency', title: 'Currency', kind: 'currency' },
    { name: 'minPriceCents', title: 'Lowest', kind: 'money' },
    { name: 'medianPriceCents', title: 'Median', kind: 'money' },
    { name: 'maxPriceCents', title: 'Highest', kind: 'money' },
  ],
  rows: ({ catalog }) => (catalog?.byCategory ?? []).map(({ items, ...prices }) => prices),
  charts: ({ catalog }) => pricesCharts(catalog),
};

const OVERVIEW: ReportKind = {
  id: 'overview',
  title: 'Overview',
  description: 'Users and items at a glance.',
  sources: ['users', 'catalog'],
  columns: [
    { name: 'source', title: 'From', kind: 'text' },
    { name: 'measure', title: 'Measure', kind: 'text' },
    { name: 'value', title: 'Value', kind: 'count' },
  ],
  rows: ({ users, catalog }) => [
    ...(users
      ? [
          { source: 'users', measure: 'Users', value: users.total },
          {
            source: 'users',
            measure: `New users in ${users.byDay.length} days`,
            value: sumOf(users.byDay.map(({ count }) => count)),
          },
        ]
      : []),
    ...(catalog
      ? [
          { source: 'catalog', measure: 'Items', value: catalog.total },
          { source: 'catalog', measure: 'Categories', value: categoriesOf(catalog).length },
        ]
      : []),
  ],
  charts: ({ users, catalog }) => [
    ...(users ? [newUsersChart(users)] : []),
    ...(catalog ? [itemsChart(catalog)] : []),
  ],
};

/** All reports, in the order of the list. */
export const REPORT_KINDS: readonly ReportKind[] = [
  OVERVIEW,
  USERS_BY_DAY,
  USERS_BY_EMAIL_DOMAIN,
  ITEMS_BY_CATEGORY,
  PRICES_BY_CATEGORY,
];

function newUsersChart({ byDay }: UserStatistics): Chart {
  const days = byDay.map(({ date, count }) => ({ date, value: count }));
  return { kind: 'days', title: 'New users by day', days };
}

function itemsChart(catalog: CatalogStatistics): Chart {
  const bars = categoriesOf(catalog).map(({ category, items }) => ({
    label: category,
    value: items,
  }));
  return { kind: 'bars', title: 'Items by category', bars };
}

/** One chart per currency: prices in two currencies have no common scale. */
function pricesCharts(catalog: CatalogStatistics | undefined): readonly Chart[] {
  const byCurrency = Map.groupBy(catalog?.byCategory ?? [], ({ currency }) => currency);
  return [...byCurrency].map(([currency, categories]) => ({
    kind: 'ranges',
    title: `Prices by category, in ${currency}`,
    currency,
    ranges: categories.map(({ category, minPriceCents, medianPriceCents, maxPriceCents }) => ({
      label: category,
      low: minPriceCents,
      middle: medianPriceCents,
      high: maxPriceCents,
    })),
  }));
}

/** The largest domains, and one row for all others, so that the rows add up to all users. */
function domainsOf(users: UserStatistics | undefined) {
  if (!users) return [];
  const named = users.byDomain.map(({ domain, count }) => ({
    domain: domain || 'none',
    users: count,
  }));
  const others = users.total - sumOf(named.map(({ users: count }) => count));
  return others > 0 ? [...named, { domain: 'all others', users: others }] : named;
}

/** The items of each category in all currencies, the largest category first. */
function categoriesOf(catalog: CatalogStatistics | undefined) {
  const byCategory = Map.groupBy(catalog?.byCategory ?? [], ({ category }) => category);
  return [...byCategory]
    .map(([category, parts]) => ({ category, items: sumOf(parts.map(({ items }) => items)) }))
    .sort((a, b) => b.items - a.items);
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
