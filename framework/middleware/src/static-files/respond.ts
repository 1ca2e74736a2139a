import type { Context } from '@fw/core';

import { requireMatch, sendNotModified } from '../preconditions.ts';
import { type ByteRange, isUnmodified, rangeOf, requireUnmodified } from './conditions.ts';
import { close, sendContent } from './content.ts';
import type { FoundFile } from './find-file.ts';

/**
 * Responds with the file, the requested part of it, or 304, and closes it. `setHeaders` sets the headers that
 * do not depend on its content.
 *
 * @throws {PreconditionFailedError} if `If-Match` or `If-Unmodified-Since` is false
 * @throws {HttpError} 416 if the range is outside the file
 */
export async function respondWithFile(
  ctx: Context,
  file: FoundFile,
  setHeaders: () => void,
): Promise<void> {
  let range: ByteRange | undefined;
  try {
    setHeaders();
    range = selectPart(ctx, file);
  } finally {
    if (!range) close(file);
  }
  if (range) await sendContent(ctx, file, range);
}

/** Sets status and headers. Returns the part of the file to send; `undefined` for 304. */
function selectPart(ctx: Context, file: FoundFile): ByteRange | undefined {
  const { etag, modifiedMs, sizeBytes, coding } = file;
  ctx.status = 200; // a router without a match has set 404
  const whole = { start: 0, end: sizeBytes };
  // The conditions of other methods are about the resource that they change, not about this response.
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return whole;
  if (!Number.isNaN(modifiedMs)) ctx.set('Last-Modified', new Date(modifiedMs).toUTCString());
  ctx.set('Accept-Ranges', 'bytes');
  requireMatch(ctx, etag);
  requireUnmodified(ctx, modifiedMs);
  if (sendNotModified(ctx, etag)) return undefined;
  if (isUnmodified(ctx, modifiedMs)) {
    ctx.status = 304;
    ctx.send('');
    return undefined;
  }
  if (coding) ctx.set('Content-Encoding', coding);
  const range = rangeOf(ctx, file);
  if (!range) return whole;
  ctx.status = 206;
  ctx.set('Content-Range', `bytes ${range.start}-${range.end - 1}/${sizeBytes}`);
  return range;
}
