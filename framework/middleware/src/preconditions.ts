import type { Context } from '@fw/core';
import { trimBlanks } from '@fw/core/body';
import { BadRequestError, PreconditionFailedError } from '@fw/errors';

/** The strong entity tag of a resource's state; `version` must differ between its states (RFC 9110 §8.8.3). */
export function etagOf(version: string | number): string {
  return `"${version}"`;
}

/**
 * Allows a change only if `If-Match` is absent, is `*`, or contains the present `etag`. A weak tag
 * never matches (RFC 9110 §13.1.1).
 *
 * @throws {BadRequestError} if `If-Match` is malformed: the change must not be made without its condition
 * @throws {PreconditionFailedError} if it does not match
 */
export function requireMatch(ctx: Pick<Context, 'get'>, etag: string): void {
  const tags = readIfMatch(ctx);
  if (tags && !tags.includes(etag)) throw preconditionFailed();
}

/**
 * Whether `If-Match` limits a change to certain states. Call it before looking up the resource: then a
 * malformed header is rejected even if the resource does not exist.
 *
 * @throws {BadRequestError} if `If-Match` is malformed
 */
export function hasIfMatch(ctx: Pick<Context, 'get'>): boolean {
  return readIfMatch(ctx) !== undefined;
}

/** The entity tags in `If-Match`; `undefined` if the client allows any state. */
function readIfMatch(ctx: Pick<Context, 'get'>): readonly string[] | undefined {
  const header = ctx.get('if-match');
  if (header === undefined || trimBlanks(header) === '*') return undefined;
  const tags = readTags(header);
  if (!tags) throw new BadRequestError('If-Match must be "*" or a list of entity tags');
  return tags;
}

/** The error for a change whose `If-Match` names another state than the present one. */
export function preconditionFailed(): PreconditionFailedError {
  return new PreconditionFailedError(
    'the resource has changed: If-Match names another state of it',
  );
}

/**
 * Sets `ETag`, and responds with 304 if the client already has this state. The handler is then finished:
 * `if (sendNotModified(ctx, etag)) return;` (RFC 9110 §13.1.2). A malformed `If-None-Match` is ignored: the
 * whole representation is always a correct response.
 */
export function sendNotModified(ctx: Context, etag: string): boolean {
  ctx.set('ETag', etag);
  if (!matchesIfNoneMatch(ctx, etag)) return false;
  ctx.status = 304;
  ctx.send('');
  return true;
}

/** Whether `If-None-Match` contains `etag` or is `*`; weak and strong tags are compared alike. */
export function matchesIfNoneMatch(ctx: Pick<Context, 'get'>, etag: string): boolean {
  const header = ctx.get('if-none-match');
  if (header === undefined) return false;
  const opaque = (tag: string) => tag.replace(/^W\//, '');
  return (
    trimBlanks(header) === '*' || readTags(header)?.map(opaque).includes(opaque(etag)) === true
  );
}

const TAG = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const TAGS = new RegExp(TAG, 'g');
/** Empty elements are valid (RFC 9110 §5.6.1.2). */
const LIST = `(?:${TAG})?[ \\t]*(?:,[ \\t]*(?:${TAG}[ \\t]*)?)*`;
const TAG_LIST = new RegExp(`^${LIST}$`);

/** The values of `If-Match` that `requireMatch` accepts, for the schema of the header in a document. */
export const IF_MATCH_PATTERN = new RegExp(`^(?:\\*|${LIST})$`);

/** The entity tags in `header`; `undefined` if it is not a list of entity tags. */
function readTags(header: string): readonly string[] | undefined {
  return TAG_LIST.test(header) ? (header.match(TAGS) ?? []) : undefined;
}
