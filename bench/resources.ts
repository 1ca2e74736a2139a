const NOUNS = (
  'accounts articles carts comments customers devices events invoices messages orders ' +
  'payments products projects reports reviews sessions shipments tickets users warehouses'
).split(' ');

/** The name of a resource, for its routes: `accounts1`, `articles1`, …, `accounts2`, … */
export function resourceName(index: number): string {
  return `${NOUNS[index % NOUNS.length]}${Math.floor(index / NOUNS.length) + 1}`;
}
