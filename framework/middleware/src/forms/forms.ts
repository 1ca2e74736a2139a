import { accessSync, constants, createWriteStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import {
  annotate,
  type BodyStream,
  type Context,
  type Middleware,
  markFactories,
  onSent,
} from '@fw/core';
import {
  BODY_LIMIT_BYTES,
  BodyMemory,
  createTypeReader,
  decodeUtf8,
  discardRest,
  hasBody,
  isBodyRead,
  isUtf8Charset,
  readBody,
  skipByteOrderMark,
} from '@fw/core/body';
import { hasParsedBody, hasRun, parsePairs } from '@fw/core/extension';
import { anObject, aString, aWholeNumber, badOption, readOptions } from '@fw/core/options';
import { BadRequestError, PayloadTooLargeError, UnsupportedMediaTypeError } from '@fw/errors';

import { type Part, readParts } from './multipart.ts';

/** The value of a form field: a string or a file, or an array if the name is repeated. */
export type FormValue = string | File | (string | File)[] | undefined;

/** The fields of a form by name: an object without a prototype. */
export type Form = Record<string, FormValue>;

export interface FormsOptions {
  /** Maximum size of the fields in bytes: of a urlencoded body, or of all text parts. Default 1 MiB. */
  readonly limit?: number;
  /** Maximum number of fields. Default and maximum 1,000. */
  readonly maxFields?: number;
  /** Accepts `multipart/form-data` too, with files. Default: it does not. */
  readonly multipart?: MultipartOptions;
}

export interface MultipartOptions {
  /** Maximum size of the whole body in bytes. Default 20 MiB. */
  readonly totalLimit?: number;
  /** Maximum size of one file in bytes. Default 10 MiB. */
  readonly fileLimit?: number;
  /** Maximum number of files. Default 10. */
  readonly maxFiles?: number;
  /** The folder for files until the response was sent. Default: the temporary folder of the system. */
  readonly folder?: string;
}

/** A middleware after which `ctx.body` has the type `Form`. */
export interface FormsMiddleware extends Middleware {
  readonly '~validated'?: (parts: { readonly body: Form }) => void;
}

/** Parses the body of a request into the form that becomes `ctx.body`. */
type Parse = (ctx: Context) => Promise<Form>;

const URLENCODED = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

/**
 * Parses HTML forms into `ctx.body`. A field is a string, a file a `File`, and a repeated name an array.
 * Files are on the disk until the response was sent. A request without a body gets an empty form; any
 * other type of body gets 415.
 *
 * ```ts
 * router.post('/photos', forms({ multipart: {} }), async (ctx) => {
 *   const { title, photo } = ctx.body;
 *   if (photo instanceof File) await writeFile('photos/1.jpg', photo.stream());
 * });
 * ```
 *
 * @throws {TypeError} if an option is invalid, or the folder for files is not writable
 */
export function forms(options: FormsOptions = {}): FormsMiddleware {
  const {
    limit = BODY_LIMIT_BYTES,
    maxFields = 1_000,
    multipart,
  } = readOptions('forms()', options, {
    limit: aWholeNumber(1, Number.MAX_SAFE_INTEGER),
    maxFields: aWholeNumber(1, 1_000),
    multipart: anObject,
  });
  const limits = { limit, maxFields };
  const parsers = new Map<string, Parse>([[URLENCODED, (ctx) => readUrlencoded(ctx, limits)]]);
  let limitBytes = limit;
  if (multipart) {
    const settings = readMultipartOptions(multipart, limits);
    parsers.set(MULTIPART, (ctx) => readMultipart(ctx, settings));
    limitBytes = Math.max(limit, settings.totalLimit);
  }
  const mediaTypes = [...parsers.keys()];
  const parserOf = createTypeReader((mediaType) => parsers.get(mediaType));
  const readForm = (ctx: Context): Promise<Form> => {
    const coding = ctx.get('content-encoding')?.toLowerCase() ?? 'identity';
    const parse = parserOf(ctx.get('content-type'));
    if (!parse || coding !== 'identity') throw rejectType(ctx, mediaTypes);
    return parse(ctx);
  };
  const parse: Middleware = (ctx, next) => {
    const { req } = ctx.raw;
    if (hasParsedBody(ctx)) return next();
    // Another parser may have read an empty body.
    if (!hasBody(req) || isBodyRead(req)) {
      ctx.body = Object.create(null);
      return next();
    }
    return readForm(ctx).then((form) => {
      ctx.body = form;
      const running = next();
      if (!hasRun(running)) return running;
    });
  };
  return annotate(parse, { body: { mediaTypes, limit: limitBytes } });
}

/** The error for a body that is not a form in UTF-8, or has a content coding; its rest is discarded. */
function rejectType(ctx: Context, mediaTypes: readonly string[]): UnsupportedMediaTypeError {
  discardRest(ctx.raw.req);
  const accepted = mediaTypes.join(', ');
  return new UnsupportedMediaTypeError(`The body must be a form in UTF-8: ${accepted}`, {
    headers: { Accept: accepted },
  });
}

/** Reads a body in the encoding `application/x-www-form-urlencoded`. */
function readUrlencoded(
  { raw: { req, res } }: Context,
  { limit, maxFields }: FieldLimits,
): Promise<Form> {
  return readBody(req, res, { limitBytes: limit }).then((bytes) => parseFields(bytes, maxFields));
}

/**
 * Parses a body in the encoding `application/x-www-form-urlencoded`.
 *
 * @throws {PayloadTooLargeError} if it has more than `maxFields`
 * @throws {BadRequestError} if an escape is malformed or the text is not UTF-8
 */
function parseFields(bytes: Buffer, maxFields: number): Form {
  const decoded = decodeUtf8(bytes);
  if (decoded === undefined) throw new BadRequestError('The form must be UTF-8');
  const pairs = skipByteOrderMark(decoded).split('&', maxFields + 1);
  if (pairs.length > maxFields) throw tooMany('fields', maxFields);
  const form: Form = parsePairs(pairs, 'form');
  for (const name in form) requireSafeName(name);
  requireUtf8(form);
  return form;
}

/**
 * Adds a value to those that the name already has.
 *
 * @throws {BadRequestError} if the name is not safe
 */
function addValue(form: Form, name: string, value: string | File): void {
  requireSafeName(name);
  const present = form[name];
  if (present === undefined) form[name] = value;
  else if (Array.isArray(present)) present.push(value);
  else form[name] = [present, value];
}

/** @throws {BadRequestError} for a name that changes the prototype of an object to which it is copied */
function requireSafeName(name: string): void {
  if (name !== '__proto__') return;
  throw new BadRequestError('The form must not have the field "__proto__"');
}

/**
 * The field `_charset_` names the charset of the others (RFC 7578 §4.6).
 *
 * @throws {UnsupportedMediaTypeError} if it is not UTF-8
 */
function requireUtf8({ _charset_: charset }: Form): void {
  if (typeof charset !== 'string' || charset === '' || isUtf8Charset(charset)) return;
  throw new UnsupportedMediaTypeError('The charset of the form must be UTF-8');
}

/** The limits of the fields in both encodings. */
type FieldLimits = Required<Pick<FormsOptions, 'limit' | 'maxFields'>>;

type MultipartSettings = Required<MultipartOptions> & FieldLimits;

const MAX_LIMIT = Number.MAX_SAFE_INTEGER - 1;

/** @throws {TypeError} if an option is invalid, or the folder is not writable */
function readMultipartOptions(options: MultipartOptions, limits: FieldLimits): MultipartSettings {
  const {
    totalLimit = 20 * 1024 ** 2,
    fileLimit = 10 * 1024 ** 2,
    maxFiles = 10,
    folder = tmpdir(),
  } = readOptions('forms({ multipart })', options, {
    totalLimit: aWholeNumber(1, MAX_LIMIT),
    fileLimit: aWholeNumber(1, MAX_LIMIT),
    maxFiles: aWholeNumber(0, 1_000),
    folder: aString,
  });
  requireWritable(folder);
  return { ...limits, totalLimit, fileLimit, maxFiles, folder };
}

function requireWritable(folder: string): void {
  try {
    accessSync(`${folder}/.`, constants.W_OK | constants.X_OK);
  } catch {
    const expected = 'a folder in which this process may create files';
    throw badOption('forms({ multipart })', { name: 'folder', value: folder, expected });
  }
}

/**
 * Reads a body in the encoding `multipart/form-data` (RFC 7578). Its files are deleted when the response
 * was sent.
 *
 * @throws {PayloadTooLargeError} if it exceeds a limit
 * @throws {BadRequestError} if it is malformed or ends early
 * @throws {UnsupportedMediaTypeError} if a field or a name is in another charset than UTF-8
 */
async function readMultipart(ctx: Context, settings: MultipartSettings): Promise<Form> {
  const body = ctx.stream({ limit: settings.totalLimit });
  // Without use after a response, such as that of timeout(): no file may be created later.
  onSent(ctx, () => body.destroy(new Error('The response was sent before the form')));
  const memory = new BodyMemory(ctx.raw.req);
  try {
    const length = Number(ctx.get('content-length') ?? 0); // any of its bytes may be fields
    const refused = memory.reserve(Math.min(length, settings.limit));
    if (refused) throw refused;
    return await collectParts(ctx, { body, memory, settings });
  } finally {
    body.destroy();
    memory.release();
  }
}

interface Reading {
  readonly body: BodyStream;
  /** Of the fields; files are on the disk. */
  readonly memory: BodyMemory;
  readonly settings: MultipartSettings;
}

async function collectParts(ctx: Context, { body, memory, settings }: Reading): Promise<Form> {
  const { limit, maxFields, fileLimit, maxFiles, folder } = settings;
  const form: Form = Object.create(null);
  const save = createFileSaver(ctx, folder);
  let fields = 0;
  let files = 0;
  let fieldBytes = 0;
  const count = (bytes: number) => {
    fieldBytes += bytes;
    if (fieldBytes > limit) throw tooMany('bytes of fields', limit);
    const refused = memory.reserve(fieldBytes);
    if (refused) throw refused;
  };
  for await (const part of readParts(body, ctx.get('content-type') ?? '')) {
    const { name, filename, content } = part;
    if (filename === undefined) {
      if (++fields > maxFields) throw tooMany('fields', maxFields);
      count(Buffer.byteLength(name));
      addValue(form, name, await readText(content, count));
    } else {
      if (++files > maxFiles) throw tooMany('files', maxFiles);
      const file = await save({ ...part, filename, content: limitFile(content, fileLimit) });
      if (file) addValue(form, name, file);
    }
  }
  requireUtf8(form);
  return form;
}

/** @throws {BadRequestError} if the content is not UTF-8 */
async function readText(
  content: AsyncIterable<Buffer>,
  count: (bytes: number) => void,
): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) {
    count(chunk.length);
    chunks.push(chunk);
  }
  const text = decodeUtf8(Buffer.concat(chunks));
  if (text === undefined) throw new BadRequestError('The form must be UTF-8');
  return text;
}

async function* limitFile(content: AsyncIterable<Buffer>, fileLimit: number) {
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > fileLimit) throw tooMany('bytes per file', fileLimit);
    yield chunk;
  }
}

/** The error for a form with more than `limit` of `what`. */
function tooMany(what: string, limit: number): PayloadTooLargeError {
  return new PayloadTooLargeError(`The number of ${what} must not exceed ${limit}`);
}

/**
 * Writes a part to a file. Resolves with `undefined` for an input without a selected file, which browsers
 * send as an empty file without a name.
 */
type SaveFile = (part: Part & { readonly filename: string }) => Promise<File | undefined>;

/**
 * Creates a function that saves the files of one request in a folder in `parent`, which it creates with
 * the first file and only this user can read. The folder is deleted when the response was sent.
 */
function createFileSaver(ctx: Context, parent: string): SaveFile {
  let files = 0;
  let created: Promise<string> | undefined;
  let saving: Promise<unknown> | undefined;
  onSent(ctx, async () => {
    await saving?.catch(() => {});
    await created?.then(
      (folder) => remove(ctx, folder),
      () => {},
    );
  });
  const save: SaveFile = async ({ filename, type, content }) => {
    created ??= mkdtemp(join(parent, 'form-'));
    const path = join(await created, String(files++));
    await pipeline(content, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    const blob = await openAsBlob(path);
    const baseName = baseNameOf(filename);
    if (baseName === '' && blob.size === 0) return undefined;
    return new File([blob], baseName, { type });
  };
  return (part) => {
    const saved = save(part);
    saving = saved;
    return saved;
  };
}

async function remove(ctx: Context, folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    ctx.log.error(`Cannot delete the files of a form in ${folder}`, error);
  }
}

const MAX_NAME_LENGTH = 255;

/** The name without folders and control characters: it is safe as a file name and in a header. */
function baseNameOf(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const printable = last.replace(/\p{Cc}/gu, '').slice(0, MAX_NAME_LENGTH);
  return /^\.*$/.test(printable) ? '' : printable;
}

markFactories({ forms });
