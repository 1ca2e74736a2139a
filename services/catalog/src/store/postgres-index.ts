import type { Tables } from './postgres-tables.ts';

/** The statements that create the tables and indexes for readers from the staging table. */
export function indexStatements({ staged, items, facets, statistics }: Tables): readonly string[] {
  const columns = [
    '(position)',
    '(name_key, id)',
    '(price_cents, id)',
    ...['category', 'brand'].flatMap((facet) => [
      `(${facet}, id)`,
      `(${facet}, name_key, id)`,
      `(${facet}, price_cents, id)`,
    ]),
  ];
  return [
    `CREATE TABLE ${items} AS
     SELECT row_number() OVER (ORDER BY id) AS position, id, name,
            name_key COLLATE "C" AS name_key, category, brand, price_cents, currency,
            description, tags, string_to_array(words, ' ') AS words
     FROM ${staged} ORDER BY id`,
    `ALTER TABLE ${items} ADD PRIMARY KEY (id)`,
    ...columns.map((list) => `CREATE INDEX ON ${items} ${list}`),
    `CREATE INDEX ON ${items} USING gin (words)`,
    `CREATE TABLE ${facets} AS
     SELECT category, brand, count(*) AS items FROM ${items} GROUP BY category, brand`,
    `CREATE TABLE ${statistics} AS
     SELECT category, currency, count(*) AS items, min(price_cents) AS least,
            percentile_disc(0.5) WITHIN GROUP (ORDER BY price_cents) AS median,
            max(price_cents) AS most
     FROM ${items} GROUP BY category, currency`,
    `ANALYZE ${items}`,
  ];
}
