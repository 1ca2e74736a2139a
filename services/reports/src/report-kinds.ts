import type { CatalogFigures, UserFigures } from './figures.ts';
import type { Chart, ReportKind } from './report.ts';

const OVERVIEW: ReportKind = {
  id: 'overview',
  title: 'Overview',
  description: 'Users and items at a glance.',
  columns: [
    { name: 'source', title: 'From', kind: 'text' },
    { name: 'measure', title: 'Measure', kind: 'text' },
    { name: 'value', title: 'Value', kind: 'count' },
  ],
  users: ({ total, byDay }) => ({
    rows: [
      { source: 'users', measure: 'Users', value: total },
      {
        source: 'users',
        measure: `New users in ${byDay.length} days`,
        value: sumOf(byDay.map(({ count }) => count)),
      },
    ],
    charts: [newUsersChart(byDay)],
  }),
  catalog: ({ total, byCategory }) => {
    const categories = categoriesOf(byCategory);
    return {
      rows: [
        { source: 'catalog', measure: 'Items', value: total },
        { source: 'catalog', measure: 'Categories', value: categories.length },
      ],
      charts: [itemsChart(categories)],
    };
  },
};

const USERS_BY_DAY: ReportKind = {
  id: 'users-by-day',
  title: 'Users by day',
  description: 'How many users were created on each of the last 30 days.',
  columns: [
    { name: 'date', title: 'Day', kind: 'date' },
    { name: 'users', title: 'New users', kind: 'count' },
  ],
  users: ({ byDay }) => ({
    rows: byDay.map(({ date, count }) => ({ date, users: count })),
    charts: [newUsersChart(byDay)],
  }),
};

const USERS_BY_EMAIL_DOMAIN: ReportKind = {
  id: 'users-by-email-domain',
  title: 'Users by e-mail domain',
  description: 'How many users there are of each e-mail domain, the largest first.',
  columns: [
    { name: 'domain', title: 'E-mail domain', kind: 'text' },
    { name: 'users', title: 'Users', kind: 'count' },
  ],
  users(figures) {
    const rows = domainsOf(figures);
    const bars = rows.map(({ domain, users }) => ({ label: domain, value: users }));
    return { rows, charts: [{ kind: 'bars', title: 'Users by e-mail domain', bars }] };
  },
};

const ITEMS_BY_CATEGORY: ReportKind = {
  id: 'items-by-category',
  title: 'Items by category',
  description: 'How many items the catalog has in each category.',
  columns: [
    { name: 'category', title: 'Category', kind: 'text' },
    { name: 'items', title: 'Items', kind: 'count' },
  ],
  catalog({ byCategory }) {
    const rows = categoriesOf(byCategory);
    return { rows, charts: [itemsChart(rows)] };
  },
};

const PRICES_BY_CATEGORY: ReportKind = {
  id: 'prices-by-category',
  title: 'Prices by category',
  description: 'The lowest, the median and the highest price in each category of the catalog.',
  columns: [
    { name: 'category', title: 'Category', kind: 'text' },
    { name: 'currency', title: 'Currency', kind: 'currency' },
    { name: 'minPriceCents', title: 'Lowest', kind: 'money' },
    { name: 'medianPriceCents', title: 'Median', kind: 'money' },
    { name: 'maxPriceCents', title: 'Highest', kind: 'money' },
  ],
  catalog: ({ byCategory }) => ({
    rows: byCategory.map(
      ({ category, currency, minPriceCents, medianPriceCents, maxPriceCents }) => ({
        category,
        currency,
        minPriceCents,
        medianPriceCents,
        maxPriceCents,
      }),
    ),
    charts: pricesCharts(byCategory),
  }),
};

/** All reports, in the order of the list. */
export const REPORT_KINDS: readonly ReportKind[] = [
  OVERVIEW,
  USERS_BY_DAY,
  USERS_BY_EMAIL_DOMAIN,
  ITEMS_BY_CATEGORY,
  PRICES_BY_CATEGORY,
];

function newUsersChart(byDay: UserFigures['byDay']): Chart {
  const days = byDay.map(({ date, count }) => ({ date, value: count }));
  return { kind: 'days', title: 'New users by day', days };
}

/** The largest domains, and one row for all others, so that the rows add up to all users. */
function domainsOf({ total, byDomain }: UserFigures) {
  const named = byDomain.map(({ domain, count }) => ({ domain: domain || 'none', users: count }));
  const others = total - sumOf(named.map(({ users }) => users));
  return others > 0 ? [...named, { domain: 'all others', users: others }] : named;
}

type Categories = CatalogFigures['byCategory'];

/** The items of each category in all currencies, the largest category first. */
function categoriesOf(byCategory: Categories) {
  return [...Map.groupBy(byCategory, ({ category }) => category)]
    .map(([category, parts]) => ({ category, items: sumOf(parts.map(({ items }) => items)) }))
    .sort((a, b) => b.items - a.items);
}

function itemsChart(categories: ReturnType<typeof categoriesOf>): Chart {
  const bars = categories.map(({ category, items }) => ({ label: category, value: items }));
  return { kind: 'bars', title: 'Items by category', bars };
}

/** One chart per currency: prices in two currencies have no common scale. */
function pricesCharts(byCategory: Categories): readonly Chart[] {
  const byCurrency = Map.groupBy(byCategory, ({ currency }) => currency);
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

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
