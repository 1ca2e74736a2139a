import { BadRequestError, type Context, PreconditionFailedError } from 'fw';

/** The strong entity tag of a state that `version` names among all states of the resource (RFC 9110 §8.8.3). */
export function etagOf(version: string | number): string {
  return `"${version}"`;
}

/**
 * Allows a change of a resource only if the client knows its present state: without `If-Match`, with
 * `*`, or with the present `etag` in it. A weak tag never matches (RFC 9110 §13.1.1).
 *
 * @throws {BadRequestError} if `If-Match` is malformed: the client asked for a condition, so the change must not be made without it
 * @throws {PreconditionFailedError} if it does not match
 */
export function requireMatch(ctx: Pick<Context, 'get'>, etag: string): void {
  const tags = readIfMatch(ctx);
  if (tags && !tags.includes(etag)) throw staleState();
}

/**
 * Whether `If-Match` limits a change to certain states. Call it before looking up the resource, so that
 * a malformed header is rejected whether or not the resource exists.
 *
 * @throws {BadRequestError} if `If-Match` is malformed
 */
export function isConditional(ctx: Pick<Context, 'get'>): boolean {
  return readIfMatch(ctx) !== undefined;
}

/** The entity tags in `If-Match`; `undefined` if the client accepts any state. */
function readIfMatch(ctx: Pick<Context, 'get'>): readonly string[] | undefined {
  const header = ctx.get('if-match');
  if (header === undefined || header.trim() === '*') return undefined;
  const tags = readTags(header);
  if (!tags) throw new BadRequestError('If-Match must be "*" or a list of entity tags');
  return tags;
}

/** The answer to a change that was made for another state of the resource. */
export function staleState(): PreconditionFailedError {
  return new PreconditionFailedError(
    'the resource has changed: If-Match names another state of it',
  );
}

/**
 * Sets `ETag`, and responds with 304 if the client has this state already, which ends the work on the
 * request: `if (isNotModified(ctx, etag)) return;` (RFC 9110 §13.1.2). A malformed `If-None-Match` is
 * ignored: it only saves a transfer, and the whole representation is always a correct response.
 */
export function isNotModified(ctx: Context, etag: string): boolean {
  ctx.set('ETag', etag);
  const header = ctx.get('if-none-match');
  if (header === undefined) return false;
  const weak = (tag: string) => tag.replace(/^W\//, '');
  if (header.trim() !== '*' && !readTags(header)?.map(weak).includes(weak(etag))) return false;
  ctx.status = 304;
  ctx.send('');
  return true;
}

const TAG = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const TAGS = new RegExp(TAG, 'g');
/** Empty elements are valid (RFC 9110 §5.6.1.2). */
const LIST = `(?:${TAG})?[ \\t]*(?:,[ \\t]*(?:${TAG}[ \\t]*)?)*`;
const TAG_LIST = new RegExp(`^${LIST}$`);

/** What `requireMatch` accepts in `If-Match`, for the schema of the header in a document. */
export const IF_MATCH_PATTERN = new RegExp(`^(?:\\*|${LIST})$`);

/** The entity tags in `header`; `undefined` if it is not a list of them (RFC 9110 §8.8.3). */
function readTags(header: string): readonly string[] | undefined {
  return TAG_LIST.test(header) ? (header.match(TAGS) ?? []) : undefined;
}
