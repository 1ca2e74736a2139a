/** A report that the service offers. */
export interface Report {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

/** The reports, in the order in which they are listed. */
export const REPORTS: readonly Report[] = [
  {
    id: 'users-by-day',
    title: 'Users by day',
    description: 'How many users were created on each of the last 30 days.',
  },
  {
    id: 'users-by-email-domain',
    title: 'Users by e-mail domain',
    description: 'How many users there are of each e-mail domain, the largest first.',
  },
  {
    id: 'items-by-category',
    title: 'Items by category',
    description: 'How many items the catalog has in each category.',
  },
  {
    id: 'prices-by-category',
    title: 'Prices by category',
    description: 'The lowest, the median and the highest price in each category of the catalog.',
  },
];
