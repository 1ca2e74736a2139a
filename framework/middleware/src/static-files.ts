import fs from 'node:fs';
import { realpath } from 'node:fs/promises';
import { extname, join, relative, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';

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
      if (!range) fs.closeSync(file.fd);
    }
    if (range) await sendContent(ctx, file.fd, range);
  };
}

/** The folder without symbolic links. */
function readRoot(root: string): string {
  const stats = fs.statSync(root, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return fs.realpathSync(root);
  const expected = 'an existing folder';
  throw badOption('staticFiles()', { name: 'root', value: resolve(root), expected });
}

/** Characters that separate folders or streams on some system, and names with a special meaning on Windows. */
const SPECIAL = /[/\\:\0]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Whether a file or folder with this name is served. `..` and other dot names are not. */
function isServed(name: string): boolean {
  return name !== '' && !name.startsWith('.') && !SPECIAL.test(name);
}

/**
 * The names of the folders and the file for `path`, a path in normal form after the prefix; `undefined`
 * if one of the names is not served. A folder with a trailing slash is its `index.html`.
 */
function readSegments(path: string): readonly string[] | undefined {
  const names = path.split('/').slice(1).map(decodeURIComponent);
  if (names.at(-1) === '') names[names.length - 1] = 'index.html';
  return names.every(isServed) ? names : undefined;
}

/** An open regular file. */
interface OpenFile {
  /** The file descriptor, which the caller must close. */
  readonly fd: number;
  readonly sizeBytes: number;
  /** The time of the last change, in whole seconds as in `Last-Modified`. */
  readonly modifiedMs: number;
  /** A strong entity tag of size, time of change and content coding. */
  readonly etag: string;
  readonly coding?: string;
}

/** The file does not exist, or something else has its name. */
const MISSING = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ENXIO']);

/** Opening a named pipe without a writer would otherwise wait. */
const FLAGS = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);

const open = promisify(fs.open);
const read = promisify(fs.read);

/** On Linux, links from the descriptors of this process to its open files. */
const DESCRIPTORS = '/proc/self/fd';
const hasDescriptors = fs.existsSync(DESCRIPTORS);

/**
 * Opens a file in `root`. Symbolic links are followed as long as they lead to a served name in `root`.
 *
 * @throws {Error} if the file exists and cannot be read
 */
async function findFile(
  root: string,
  segments: readonly string[],
): Promise<OpenFile | 'folder' | undefined> {
  const path = join(root, ...segments);
  try {
    return await inspect(await open(path, FLAGS), path, root);
  } catch (error) {
    if (MISSING.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/**
 * Closes anything but a regular file with a served name in `root`. The state of an open file is in
 * memory: `readlink` of its descriptor, `fstat` and `close` do not wait for the disk, and a thread of the
 * pool would cost more than they do.
 */
async function inspect(
  fd: number,
  path: string,
  root: string,
): Promise<OpenFile | 'folder' | undefined> {
  let isFile = false;
  try {
    const stats = fs.fstatSync(fd, { bigint: true });
    const target = hasDescriptors ? fs.readlinkSync(`${DESCRIPTORS}/${fd}`) : await realpath(path);
    if (target !== root && !relative(root, target).split(sep).every(isServed)) return undefined;
    isFile = stats.isFile();
    if (!isFile) return stats.isDirectory() ? 'folder' : undefined;
    const modifiedMs = Math.floor(Number(stats.mtimeMs) / 1_000) * 1_000;
    const etag = `"${stats.size.toString(36)}-${stats.mtimeNs.toString(36)}"`;
    return { fd, sizeBytes: Number(stats.size), modifiedMs, etag };
  } finally {
    if (!isFile) fs.closeSync(fd);
  }
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

/** A part of a file: from `start` to before `end`. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** As much as a stream of Node reads at once. A part of this size is read without a stream. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Sends a part of a file: bytes if it is small, else a stream. Both close the file, and fail if it has
 * become shorter: a response with fewer bytes than its `Content-Length` would make the client wait.
 */
async function sendContent(ctx: Context, fd: number, range: ByteRange): Promise<void> {
  const length = range.end - range.start;
  if (length > CHUNK_BYTES) {
    ctx.send(createFileStream(fd, range));
    setStreamLength(ctx, length);
    return;
  }
  try {
    const bytes = Buffer.allocUnsafe(length);
    const { bytesRead } = await read(fd, bytes, 0, length, range.start);
    if (bytesRead < length) throw becameShorter();
    ctx.send(bytes);
  } finally {
    fs.closeSync(fd);
  }
}

function becameShorter(): Error {
  return new Error('The file became shorter while it was sent');
}

function createFileStream(fd: number, { start, end }: ByteRange): Readable {
  let position = start;
  let reading = Promise.resolve();
  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      if (position >= end) {
        this.push(null);
        return;
      }
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position));
      reading = read(fd, buffer, 0, buffer.length, position).then(
        ({ bytesRead }) => {
          position += bytesRead;
          if (bytesRead > 0) this.push(buffer.subarray(0, bytesRead));
          else this.destroy(becameShorter());
        },
        (error: Error) => void this.destroy(error),
      );
    },
    destroy(error, done) {
      // A read in progress could otherwise read from another file that gets the same descriptor.
      reading.then(() => fs.close(fd, (failure) => done(error ?? failure)));
    },
  });
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
