import type { Context } from '@fw/core';
import { HttpError } from '@fw/errors';
import { preconditionFailed } from '../preconditions.ts';
import type { FileState } from './file-cache.ts';
import { readHttpDate } from './http-date.ts';

/** A date header in milliseconds; NaN without the header or if it is no HTTP date, which is ignored. */
function dateOf(ctx: Pick<Context, 'get'>, name: string): number {
  return readHttpDate(ctx.get(name) ?? '');
}

/** Whether the client has this state. `If-None-Match` takes precedence (RFC 9110 §13.1.3). */
export function isUnmodified(ctx: Pick<Context, 'get'>, modifiedMs: number): boolean {
  return ctx.get('if-none-match') === undefined && modifiedMs <= dateOf(ctx, 'if-modified-since');
}

/**
 * `If-Match` takes precedence (RFC 9110 §13.1.4).
 *
 * @throws {PreconditionFailedError} if the file was changed after `If-Unmodified-Since`
 */
export function requireUnmodified(ctx: Pick<Context, 'get'>, modifiedMs: number): void {
  const isLater = modifiedMs > dateOf(ctx, 'if-unmodified-since');
  if (isLater && ctx.get('if-match') === undefined) throw preconditionFailed();
}

/** A part of a file: from `start` to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** One range; several ranges are ignored, as RFC 9110 §14.2 allows. */
const RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * The part of the file that a GET request asks for; `undefined` for the whole file: without a valid
 * `Range` of one part, if `If-Range` names another state, or if the file is empty.
 *
 * @throws {HttpError} 416 if the range is outside the file
 */
export function rangeOf(ctx: Context, file: FileState): ByteRange | undefined {
  const [match, first = '', last = ''] = RANGE.exec(ctx.get('range') ?? '') ?? [];
  const { sizeBytes } = file;
  if (match === undefined || sizeBytes === 0 || ctx.method !== 'GET') return undefined;
  if (first === '' && last === '') return undefined;
  if (!isSameState(ctx, file)) return undefined;
  const start = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? sizeBytes : Math.min(sizeBytes, Number(last) + 1);
  if (first !== '' && last !== '' && Number(last) < start) return undefined;
  if (start >= sizeBytes) {
    const headers = { 'Content-Range': `bytes */${sizeBytes}` };
    throw new HttpError(416, `The range must start within ${sizeBytes} bytes`, { headers });
  }
  return { start, end };
}

/**
 * Whether `If-Range` is absent or names this state by its strong tag. Dates are not compared: two releases can
 * have files of the same date, whose parts must not be joined (RFC 9110 §13.1.5).
 */
function isSameState(ctx: Context, { etag }: FileState): boolean {
  const header = ctx.get('if-range');
  return header === undefined || header === etag;
}
