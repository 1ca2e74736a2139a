import { BadRequestError, type Query, type QueryValue } from 'fw';

/** One page of a list: `limit` items from index `start`. */
export interface Page {
  readonly page: number;
  readonly limit: number;
  readonly start: number;
}

/**
 * Reads `page` (default 1) and `limit` (1 to 100) from a query.
 *
 * @throws {BadRequestError} if a value is invalid
 */
export function readPage(query: Query, { defaultLimit }: { readonly defaultLimit: number }): Page {
  const page = readNumber(query.page, 1);
  const limit = readNumber(query.limit, defaultLimit);
  if (!Number.isInteger(page) || page < 1) {
    throw new BadRequestError('page must be a positive integer');
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) {
    throw new BadRequestError('limit must be between 1 and 100');
  }
  return { page, limit, start: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER) };
}

/** The number in `value`, or `fallback` when absent or empty; a repeated key uses its first value. */
function readNumber(value: QueryValue, fallback: number): number {
  const text = typeof value === 'string' ? value : value?.[0];
  return text ? Number(text) : fallback;
}
