import type { Tables } from './postgres-tables.ts';

/** One statement that readers need, and what to call it meanwhile. */
export interface BuildStep {
  readonly name: string;
  readonly text: string;
}

/** What makes a catalog of the items that were staged: each step once, in this order. */
export function buildSteps({ staged, items, facets, figures }: Tables): readonly BuildStep[] {
  const index = (column: string, on: string) => ({
    name: `index ${column}`,
    text: `CREATE INDEX ON ${items} ${on}`,
  });
  return [
    {
      name: 'order by id',
      text: `CREATE TABLE ${items} AS
             SELECT row_number() OVER (ORDER BY id) AS position, id, name,
                    name_key COLLATE "C" AS name_key, category, brand, price_cents, currency,
                    description, tags, string_to_array(words, ' ') AS words
             FROM ${staged} ORDER BY id`,
    },
    { name: 'index ids', text: `ALTER TABLE ${items} ADD PRIMARY KEY (id)` },
    index('positions', '(position)'),
    index('names', '(name_key, id)'),
    index('prices', '(price_cents, id)'),
    ...['category', 'brand'].flatMap((facet) => [
      index(`${facet} by id`, `(${facet}, id)`),
      index(`${facet} by name`, `(${facet}, name_key, id)`),
      index(`${facet} by price`, `(${facet}, price_cents, id)`),
    ]),
    index('words', 'USING gin (words)'),
    {
      name: 'count',
      text: `CREATE TABLE ${facets} AS
             SELECT category, brand, count(*) AS items FROM ${items} GROUP BY category, brand`,
    },
    {
      name: 'sum up prices',
      text: `CREATE TABLE ${figures} AS
             SELECT category, currency, count(*) AS items, min(price_cents) AS least,
                    percentile_disc(0.5) WITHIN GROUP (ORDER BY price_cents) AS median,
                    max(price_cents) AS most
             FROM ${items} GROUP BY category, currency`,
    },
    { name: 'look at the whole', text: `ANALYZE ${items}` },
  ];
}
