import { BadRequestError } from 'fw';
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
 * The query parameters of a list by page number; `readPart` reads them as a `Page`. `limitDescription`
 * describes the content of a page and the default of `limit`.
 */
export function numberedPageQuery({
  defaultLimit,
  maxLimit,
  limitDescription,
}: PageSizes & { readonly limitDescription: string }) {
  return z
    .object({
      page: numberText(Number.MAX_SAFE_INTEGER, 'page must be a positive integer').meta({
        description: 'Number of the page, from 1; default 1',
      }),
      limit: numberText(maxLimit, `limit must be between 1 and ${maxLimit}`).meta({
        description: limitDescription,
      }),
    })
    .transform((query): Page => {
      const page = query.page || 1;
      const limit = query.limit || defaultLimit;
      return { page, limit, start: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER) };
    });
}

/**
 * A number from 1 to `max`; `undefined` if it is absent or empty. Unlike `integerText`, it has any form that
 * `Number` reads, such as `0x10`, and a repeated parameter has its first value.
 */
function numberText(max: number, error: string) {
  // zod derives the same document from a union, which takes most of the time of reading a query.
  const document = {
    anyOf: [
      { type: 'integer', minimum: 1, maximum: max },
      { type: 'string', const: '' },
    ],
  };
  return z
    .unknown()
    .transform((value, context) => {
      const text = Array.isArray(value) ? value[0] : value;
      if (!text) return undefined;
      const number = Number(text);
      if (Number.isSafeInteger(number) && number >= 1 && number <= max) return number;
      context.addIssue(error);
      return z.NEVER;
    })
    .optional()
    .meta(document);
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

/**
 * Reads a part of a request, such as `ctx.query`. The response to an invalid one has the text of the first
 * issue; `validate()` instead sends a list of all issues.
 *
 * @throws {BadRequestError} if the part is invalid
 */
export function readPart<Output>(schema: z.ZodType<Output>, part: unknown): Output {
  const { data, error } = schema.safeParse(part);
  if (error) throw new BadRequestError(error.issues[0]?.message);
  return data;
}
