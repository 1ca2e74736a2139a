import { type Context, PreconditionFailedError } from 'fw';

/** The strong entity tag of a state that `version` names among all states of the resource (RFC 9110 §8.8.3). */
export function etagOf(version: string | number): string {
  return `"${version}"`;
}

/**
 * Lets a change of a resource go on only if the client knows its present state: without `If-Match`, with
 * `*`, or with the present `etag` in it. A weak tag never matches (RFC 9110 §13.1.1).
 *
 * @throws {PreconditionFailedError} if it does not
 */
export function requireMatch(ctx: Pick<Context, 'get'>, etag: string): void {
  const header = ctx.get('if-match');
  if (header === undefined || header.trim() === '*') return;
  if (!tagsOf(header).includes(etag)) throw staleState();
}

/** The answer to a change that was made for another state of the resource. */
export function staleState(): PreconditionFailedError {
  return new PreconditionFailedError(
    'the resource has changed: If-Match names another state of it',
  );
}

/**
 * Sets `ETag`, and answers 304 if the client has this state already, which ends the work on the
 * request: `if (isNotModified(ctx, etag)) return;` (RFC 9110 §13.1.2).
 */
export function isNotModified(ctx: Context, etag: string): boolean {
  ctx.set('ETag', etag);
  const header = ctx.get('if-none-match');
  if (header === undefined) return false;
  const weak = (tag: string) => tag.replace(/^W\//, '');
  if (header.trim() !== '*' && !tagsOf(header).map(weak).includes(weak(etag))) return false;
  ctx.status = 304;
  ctx.send('');
  return true;
}

function tagsOf(header: string): readonly string[] {
  return header.match(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g) ?? [];
}
