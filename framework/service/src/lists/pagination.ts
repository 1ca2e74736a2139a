import { BadRequestError, type Query, type QueryValue } from 'fw';

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
 * Reads `page` (a safe integer, default 1) and `limit` (1 to 100) from a query.
 *
 * @throws {BadRequestError} if one of them is invalid
 */
export function readPage(query: Query, { defaultLimit }: { readonly defaultLimit: number }): Page {
  const page = readNumber(query.page, 1);
  const limit = readNumber(query.limit, defaultLimit);
  if (!Number.isSafeInteger(page) || page < 1) {
    throw new BadRequestError('page must be a positive integer');
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) {
    throw new BadRequestError('limit must be between 1 and 100');
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
