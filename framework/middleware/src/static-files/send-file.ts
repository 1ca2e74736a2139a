import { realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';

import type { Context } from '@fw/core';
import { hasDefaultCacheControl, responseHeader, warnOnce } from '@fw/core/extension';
import { aString, badOption, check, readOptions, required } from '@fw/core/options';
import { NotFoundError } from '@fw/errors';

import { attachmentOf } from './content-disposition.ts';
import { contentTypeOf } from './content-type.ts';
import { EntityTags } from './entity-tags.ts';
import { createFileFinder, isServed } from './find-file.ts';
import { respondWithFile } from './respond.ts';

export interface SendFileOptions {
  /** The folder that the file must be in, absolute or relative to the working directory. */
  readonly root: string;
  /**
   * The name under which the browser saves the file, 1 to 255 characters of any language; it also determines
   * the type. Default: the browser may show the file, as the page that it may be.
   */
  readonly downloadName?: string;
}

const OWNER = 'sendFile()';
const CHECKS = {
  root: required(aString),
  downloadName: check(
    'a name of 1 to 255 characters',
    (value) => typeof value === 'string' && value !== '' && value.length <= 255,
  ),
};

/** Of all files: what is in them is not kept in memory. */
const tags = new EntityTags();

/**
 * Sends one file, after the checks of a handler: with its type, entity tag, 304 and ranges, read in chunks of
 * 64 KiB as fast as the client reads. Await or return it.
 *
 * ```ts
 * router.get('/invoices/:id/file', authenticate, (ctx) => {
 *   const invoice = findInvoice(ctx.params.id, ctx.state.user); // throws unless the user may read it
 *   return sendFile(ctx, invoice.file, { root: 'data/invoices', downloadName: `${invoice.title}.pdf` });
 * });
 * ```
 *
 * Only the browser of the user may store the file, and it asks before each use; a `Content-Type` that is
 * already set stays, as does a `Cache-Control` that says more than `private`. Conditions and ranges apply to GET
 * and HEAD. The status is 200, 206 or 304.
 *
 * @param path relative to `root`, or absolute; it may contain text of the client
 * @throws {NotFoundError} if there is no such file, it is a folder, a name starts with `.` or has a special
 *   meaning on Windows, or the path or a symbolic link leads out of `root`
 * @throws {PreconditionFailedError} if `If-Match` or `If-Unmodified-Since` is false
 * @throws {HttpError} 416 if the range is outside the file
 * @throws {TypeError} if `path` is no string, an option is invalid, or `root` is not an existing folder
 */
export async function sendFile(
  ctx: Context,
  path: string,
  options: SendFileOptions,
): Promise<void> {
  const { root, downloadName } = readOptions(OWNER, options, CHECKS);
  if (typeof path !== 'string') {
    throw new TypeError(`Cannot send the file "${String(path)}": expected a path`);
  }
  const segments = relative(root, resolve(root, path)).split(sep);
  if (segments[0] === '..') warnOutside(ctx);
  const { findFile } = createFileFinder(await readRoot(root), { tags });
  const file = segments.every(isServed) ? await findFile(segments) : undefined;
  if (!file || file === 'folder') throw new NotFoundError('The file does not exist');
  await respondWithFile(ctx, file, () => {
    setCacheControl(ctx);
    ctx.set('X-Content-Type-Options', 'nosniff'); // its sender may have chosen the content
    if (responseHeader(ctx, 'Content-Type') === undefined) {
      ctx.set('Content-Type', contentTypeOf(downloadName ?? segments.at(-1) ?? ''));
    }
    if (downloadName !== undefined) ctx.set('Content-Disposition', attachmentOf(downloadName));
  });
}

/** The folder without symbolic links. */
async function readRoot(root: string): Promise<string> {
  const stats = await stat(root).catch(() => undefined);
  if (stats?.isDirectory()) return realpath(root);
  const expected = 'an existing folder';
  throw badOption(OWNER, { name: 'root', value: resolve(root), expected });
}

/** Replaces the `private` of `session()` too: browsers would guess how long the file stays the same. */
function setCacheControl(ctx: Context): void {
  const present = responseHeader(ctx, 'Cache-Control');
  const isDefault = present === undefined || present === 'private' || hasDefaultCacheControl(ctx);
  if (isDefault) ctx.set('Cache-Control', 'private, no-cache');
}

/** A client may cause it with text in the path: no error of the server, and no line for each request. */
function warnOutside(ctx: Context): void {
  const { method, route, path } = ctx;
  const problem = `called ${OWNER} with a path outside root, and responds with 404`;
  warnOnce(ctx.log, `${route?.path} ${OWNER}`, `${method} ${route?.path ?? path} ${problem}`);
}
