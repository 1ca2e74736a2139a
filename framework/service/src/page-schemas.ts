import * as z from 'zod';

/** A whole number in a query; `fallback` when it is not there. */
export function integerQuery(options: {
  readonly from: number;
  readonly to: number;
  readonly fallback: number;
  readonly description: string;
}) {
  const { from, to, fallback, description } = options;
  return z.coerce
    .number({ error: 'Expected a number' })
    .int()
    .min(from)
    .max(to)
    .default(fallback)
    .meta({ description });
}

/** What the query of every list by cursor has: how long a page is, and where it begins. */
export const pageQuery = {
  limit: integerQuery({ from: 1, to: 100, fallback: 20, description: 'Most entries on a page' }),
  cursor: z.string().max(2_000).optional().meta({
    description: 'Where the page begins: `meta.nextCursor` of the page before',
  }),
};

/** A page of such a list. */
export function pageOf<Entry extends z.ZodType>(entry: Entry) {
  return z.object({
    data: z.array(entry),
    meta: z.object({
      limit: z.int().min(1).max(100),
      nextCursor: z.string().optional().meta({ description: 'Missing on the last page' }),
    }),
  });
}
