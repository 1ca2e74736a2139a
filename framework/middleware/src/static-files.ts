import { closeSync, realpathSync, statSync } from 'node:fs';
import { extname, resolve } from 'node:path';

import { type Context, type Middleware, markFactories } from '@fw/core';
import { createPrefixTest, readPattern, setStreamLength } from '@fw/core/extension';
import {
  aBoolean,
  aString,
  aWholeNumber,
  badOption,
  readOptions,
  required,
} from '@fw/core/options';
import { HttpError } from '@fw/errors';

import { acceptedEncodings, addVary, isCompressibleType } from './accept.ts';
import { type ByteRange, findFile, type OpenFile, readContent, readSegments } from './open-file.ts';
import { isNotModified, preconditionFailed, requireMatch } from './preconditions.ts';

export interface StaticFilesOptions {
  /** The folder, absolute or relative to the working directory. */
  readonly root: string;
  /** The path prefix under which the files are served. Default `/`. */
  readonly prefix?: string;
  /** How long browsers use a file without a request, in seconds. Default 0: they always revalidate. */
  readonly maxAgeSeconds?: number;
  /** Whether files never change, so that browsers do not revalidate them on reload. Default false. */
  readonly immutable?: boolean;
  /** Sends `name.br`, `name.zst` or `name.gz` instead of `name` to clients that accept it. Default false. */
  readonly precompressed?: boolean;
}

const MAX_AGE_SECONDS = 365 * 86_400;

/**
 * Serves the files of a folder for GET and HEAD: types, entity tags, 304, ranges and `index.html`. Other
 * requests continue with `next()`.
 *
 * ```ts
 * app.use(staticFiles({ root: 'public', prefix: '/assets' }));
 * ```
 *
 * @throws {TypeError} if an option is invalid, or `root` is not an existing folder
 */
export function staticFiles(options: StaticFilesOptions): Middleware {
  const settings = readOptions('staticFiles()', options, {
    root: required(aString),
    prefix: aString,
    maxAgeSeconds: aWholeNumber(0, MAX_AGE_SECONDS),
    immutable: aBoolean,
    precompressed: aBoolean,
  });
  const { maxAgeSeconds = 0, immutable = false, precompressed = false } = settings;
  const cacheControl = `public, max-age=${maxAgeSeconds}${immutable ? ', immutable' : ''}`;
  const root = readRoot(settings.root);
  const prefix = readPattern(settings.prefix ?? '/', 'Cannot serve static files').replace(
    /\/$/,
    '',
  );
  const isUnderPrefix = createPrefixTest(prefix);

  return async (ctx, next) => {
    const canServe = (ctx.method === 'GET' || ctx.method === 'HEAD') && !ctx.responded;
    if (!canServe || !isUnderPrefix(ctx.path)) return next();
    const segments = readSegments(ctx.path.slice(prefix.length));
    if (!segments) return next();
    const type = contentTypeOf(segments.at(-1) ?? '');
    const isNegotiated = precompressed && isCompressibleType(type);
    const variant = isNegotiated ? await findPrecompressed(ctx, root, segments) : undefined;
    const file = variant ?? (await findFile(root, segments));
    if (!file) return next();
    if (file === 'folder') {
      ctx.redirect(`${ctx.path}/${/\?.*/s.exec(ctx.url)?.[0] ?? ''}`, 301);
      return;
    }
    let range: ByteRange | undefined;
    try {
      ctx.set('Cache-Control', cacheControl).set('Content-Type', type);
      if (isNegotiated) addVary(ctx, 'Accept-Encoding');
      range = respond(ctx, file);
    } finally {
      if (!range) closeSync(file.fd);
    }
    if (range) await sendContent(ctx, file.fd, range);
  };
}

/** The folder without symbolic links. */
function readRoot(root: string): string {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return realpathSync(root);
  const expected = 'an existing folder';
  throw badOption('staticFiles()', { name: 'root', value: resolve(root), expected });
}

/** Content codings and their file extensions, usually the smallest file first. */
const EXTENSIONS = new Map([
  ['br', '.br'],
  ['zstd', '.zst'],
  ['gzip', '.gz'],
]);
const CODINGS = [...EXTENSIONS.keys()];

/** Opens the compressed variant of a file that the client prefers; `undefined` if there is none. */
async function findPrecompressed(
  ctx: Context,
  root: string,
  segments: readonly string[],
): Promise<OpenFile | undefined> {
  for (const coding of acceptedEncodings(ctx.get('accept-encoding'), CODINGS)) {
    const variant = [...segments.slice(0, -1), `${segments.at(-1)}${EXTENSIONS.get(coding)}`];
    const file = await findFile(root, variant);
    if (file === undefined || file === 'folder') continue;
    return { ...file, coding, etag: file.etag.replace(/"$/, `-${coding}"`) };
  }
  return undefined;
}

/** Sets status and headers. Returns the part of the file to send; `undefined` for 304. */
function respond(ctx: Context, file: OpenFile): ByteRange | undefined {
  const { etag, modifiedMs, sizeBytes, coding } = file;
  ctx.status = 200; // a router without a match has set 404
  ctx.set('Last-Modified', new Date(modifiedMs).toUTCString()).set('Accept-Ranges', 'bytes');
  requireMatch(ctx, etag);
  requireUnmodified(ctx, modifiedMs);
  if (isNotModified(ctx, etag)) return undefined;
  if (isUnmodified(ctx, modifiedMs)) {
    ctx.status = 304;
    ctx.send('');
    return undefined;
  }
  if (coding) ctx.set('Content-Encoding', coding);
  const range = rangeOf(ctx, file);
  if (!range) return { start: 0, end: sizeBytes };
  ctx.status = 206;
  ctx.set('Content-Range', `bytes ${range.start}-${range.end - 1}/${sizeBytes}`);
  return range;
}

async function sendContent(ctx: Context, fd: number, range: ByteRange): Promise<void> {
  const content = await readContent(fd, range);
  ctx.send(content);
  if (!Buffer.isBuffer(content)) setStreamLength(ctx, range.end - range.start);
}

/** A date header in milliseconds; NaN without the header or if it is malformed, which is ignored. */
function dateOf(ctx: Pick<Context, 'get'>, name: string): number {
  return Date.parse(ctx.get(name) ?? '');
}

/** Whether the client has this state. `If-None-Match` takes precedence (RFC 9110 §13.1.3). */
function isUnmodified(ctx: Pick<Context, 'get'>, modifiedMs: number): boolean {
  return ctx.get('if-none-match') === undefined && modifiedMs <= dateOf(ctx, 'if-modified-since');
}

/**
 * `If-Match` takes precedence (RFC 9110 §13.1.4).
 *
 * @throws {PreconditionFailedError} if the file was changed after `If-Unmodified-Since`
 */
function requireUnmodified(ctx: Pick<Context, 'get'>, modifiedMs: number): void {
  const isLater = modifiedMs > dateOf(ctx, 'if-unmodified-since');
  if (isLater && ctx.get('if-match') === undefined) throw preconditionFailed();
}

/** One range; several ranges are ignored, as RFC 9110 §14.2 allows. */
const RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * The part of the file that a GET request asks for; `undefined` for the whole file: without a valid
 * `Range` of one part, if `If-Range` names another state, or if the file is empty.
 *
 * @throws {HttpError} 416 if the range is outside the file
 */
function rangeOf(ctx: Context, file: OpenFile): ByteRange | undefined {
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

/** Whether `If-Range` is absent or names this state: its strong tag or exact date (RFC 9110 §13.1.5). */
function isSameState(ctx: Context, { etag, modifiedMs }: OpenFile): boolean {
  const header = ctx.get('if-range');
  if (header === undefined || header === etag) return true;
  return !header.includes('"') && dateOf(ctx, 'if-range') === modifiedMs;
}

/** Types of files on the Web, by extension (IANA media types). Text is UTF-8. */
const TYPES: Readonly<Record<string, string>> = {
  '.aac': 'audio/aac',
  '.apng': 'image/apng',
  '.atom': 'application/atom+xml; charset=utf-8',
  '.avif': 'image/avif',
  '.bmp': 'image/bmp',
  '.cjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.epub': 'application/epub+zip',
  '.flac': 'audio/x-flac',
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.htm': 'text/html; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/vnd.microsoft.icon',
  '.ics': 'text/calendar; charset=utf-8',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.jsonld': 'application/ld+json; charset=utf-8',
  '.m4a': 'audio/mp4',
  '.map': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.oga': 'audio/ogg',
  '.ogg': 'audio/ogg',
  '.ogv': 'video/ogg',
  '.opus': 'audio/ogg',
  '.otf': 'font/otf',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.rss': 'application/rss+xml; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.tar': 'application/x-tar',
  '.ttf': 'font/ttf',
  '.txt': 'text/plain; charset=utf-8',
  '.vtt': 'text/vtt; charset=utf-8',
  '.wasm': 'application/wasm',
  '.wav': 'audio/wav',
  '.weba': 'audio/webm',
  '.webm': 'video/webm',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xml': 'application/xml; charset=utf-8',
  '.zip': 'application/zip',
};

/** The `Content-Type` of a file by its name; `application/octet-stream` for an unknown extension. */
function contentTypeOf(name: string): string {
  const extension = extname(name).toLowerCase();
  return Object.hasOwn(TYPES, extension) ? TYPES[extension]! : 'application/octet-stream';
}

markFactories({ staticFiles });
