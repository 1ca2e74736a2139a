import * as z from 'zod';

import { readInteger } from '../config/variables.ts';

/**
 * An integer in a query or a path, in the form that `readInteger` reads. A parameter that is present
 * must have a value: `?limit=` is invalid. In the document it is an integer.
 */
export function integerText({ from, to = Number.MAX_SAFE_INTEGER }: IntegerRange) {
  const schema = z
    .int({ error: `Expected an integer from ${from} to ${to}` })
    .min(from)
    .max(to);
  return z.preprocess(
    (value) => (typeof value === 'string' ? (readInteger(value) ?? value) : value),
    schema,
  );
}

/** The accepted values, both included. */
export interface IntegerRange {
  readonly from: number;
  /** Default: `Number.MAX_SAFE_INTEGER`. */
  readonly to?: number;
}

/** An integer in a query as `integerText` reads it; `fallback` if the parameter is absent. */
export function integerQuery(options: {
  readonly from: number;
  readonly to: number;
  readonly fallback: number;
  readonly description: string;
}) {
  const { from, to, fallback, description } = options;
  return integerText({ from, to }).default(fallback).meta({ description });
}

/** The query parameters of a list by cursor; a page has `defaultLimit` entries without `limit`, and at most 100. */
export function pageQuery({ defaultLimit }: { readonly defaultLimit: number }) {
  return {
    limit: integerQuery({
      from: 1,
      to: 100,
      fallback: defaultLimit,
      description: 'Maximum number of entries on the page',
    }),
    cursor: z
      .string()
      .regex(/^[A-Za-z0-9_-]+$/, 'Expected a cursor that this list returned')
      .max(2_000)
      .optional()
      .meta({
        description:
          'Where the page begins: `meta.nextCursor` of the page before; any other value is a 400',
      }),
  };
}

/**
 * The query parameters that `readPage` reads, for the document of a numbered list. An empty value counts as
 * absent. `limitDescription` describes the content of a page and the default of `limit`.
 */
export function numberedPageQuery({ limitDescription }: { readonly limitDescription: string }) {
  const empty = z.literal('');
  return z.object({
    page: z
      .union([z.int().min(1), empty])
      .optional()
      .meta({ description: 'Number of the page, from 1; default 1' }),
    limit: z
      .union([z.int().min(1).max(100), empty])
      .optional()
      .meta({ description: limitDescription }),
  });
}

/** A page of a list by cursor. */
export function pageOf<Entry extends z.ZodType>(entry: Entry) {
  return z.object({
    data: z.array(entry),
    meta: z.object({
      limit: z.int().min(1).max(100),
      nextCursor: z.string().optional().meta({ description: 'Missing on the last page' }),
    }),
  });
}
