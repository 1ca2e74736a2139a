import { BadRequestError, type Query, type QueryValue } from 'fw';
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
  // The document has the default of an input only by `prefault`.
  return integerText({ from, to }).prefault(fallback).meta({ description });
}

/** The sizes of the pages of a list. */
export interface PageSizes {
  /** Entries on a page without `limit`. */
  readonly defaultLimit: number;
  /** Largest accepted `limit`. */
  readonly maxLimit: number;
}

/** The query parameters of a list by cursor. */
export function pageQuery({ defaultLimit, maxLimit }: PageSizes) {
  return {
    limit: integerQuery({
      from: 1,
      to: maxLimit,
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
export function numberedPageQuery({
  maxLimit,
  limitDescription,
}: Pick<PageSizes, 'maxLimit'> & { readonly limitDescription: string }) {
  const empty = z.literal('');
  return z.object({
    page: z
      .union([z.int().min(1), empty])
      .optional()
      .meta({ description: 'Number of the page, from 1; default 1' }),
    limit: z
      .union([z.int().min(1).max(maxLimit), empty])
      .optional()
      .meta({ description: limitDescription }),
  });
}

/** A page of a list by cursor. */
export function pageOf<Entry extends z.ZodType>(
  entry: Entry,
  { maxLimit }: Pick<PageSizes, 'maxLimit'>,
) {
  return z.object({
    data: z.array(entry),
    meta: z.object({
      limit: z.int().min(1).max(maxLimit),
      nextCursor: z.string().optional().meta({ description: 'Missing on the last page' }),
    }),
  });
}

/** Part of a list: at most `limit` entries, from the zero-based index `start`. */
export interface Slice {
  readonly start: number;
  readonly limit: number;
}

/** One page of a list, by its number (from 1). */
export interface Page extends Slice {
  readonly page: number;
}

/**
 * Reads `page` (a safe integer, default 1) and `limit` (1 to `maxLimit`) from a query.
 *
 * @throws {BadRequestError} if one of them is invalid
 */
export function readPage(query: Query, { defaultLimit, maxLimit }: PageSizes): Page {
  const page = readNumber(query.page, 1);
  const limit = readNumber(query.limit, defaultLimit);
  if (!Number.isSafeInteger(page) || page < 1) {
    throw new BadRequestError('page must be a positive integer');
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) {
    throw new BadRequestError(`limit must be between 1 and ${maxLimit}`);
  }
  return { page, limit, start: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER) };
}

/**
 * The number in `value`, or `fallback` if it is absent or empty; a repeated key uses its first value.
 * Version 1, which does not change, reads these two numbers with `Number`, which accepts `0x10` and `1e1`;
 * all other numbers are read by `readInteger`.
 */
function readNumber(value: QueryValue, fallback: number): number {
  const text = typeof value === 'string' ? value : value?.[0];
  return text ? Number(text) : fallback;
}
