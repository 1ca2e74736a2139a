import { accessSync, constants, createWriteStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { annotate, type Context, type Middleware, markFactories, onSent } from '@fw/core';
import {
  BodyMemory,
  bodyTooLarge,
  bodyUnreadable,
  createTypeReader,
  decodeUtf8,
  discardRest,
  hasBody,
  hasParsedBody,
  isBodyRead,
  loadOptional,
  parseQuery,
  readBody,
  sendContinue,
  skipByteOrderMark,
} from '@fw/core/extension';
import { anObject, aString, aWholeNumber, badOption, readOptions } from '@fw/core/options';
import { BadRequestError, PayloadTooLargeError, UnsupportedMediaTypeError } from '@fw/errors';

/** The value of a form field: a string or a file, or an array if the name is repeated. */
export type FormValue = string | File | (string | File)[] | undefined;

/** The fields of a form by name: an object without a prototype. */
export type Form = Record<string, FormValue>;

export interface FormsOptions {
  /** Maximum size of the fields in bytes: of a urlencoded body, or of all text parts. Default 1 MiB. */
  readonly limit?: number;
  /** Maximum number of fields. Default and maximum 1,000. */
  readonly maxFields?: number;
  /** Accepts `multipart/form-data` too, with files; needs the package `busboy`. Default: it does not. */
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
 * @throws {TypeError} if an option is invalid, the folder for files is not writable, or busboy is missing
 */
export function forms(options: FormsOptions = {}): FormsMiddleware {
  const {
    limit = 1024 ** 2,
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
  const parse: Middleware = async (ctx, next) => {
    const { req } = ctx.raw;
    if (hasParsedBody(ctx)) return next();
    const isThere = hasBody(req) && !isBodyRead(req); // another parser may have read an empty body
    ctx.body = isThere ? await readForm(ctx) : Object.create(null);
    return next();
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

/**
 * Reads a body in the encoding `application/x-www-form-urlencoded`.
 *
 * @throws {PayloadTooLargeError} if it exceeds a limit
 * @throws {BadRequestError} if an escape is malformed or the text is not UTF-8
 */
async function readUrlencoded(
  { raw: { req, res } }: Context,
  { limit, maxFields }: FieldLimits,
): Promise<Form> {
  const bytes = await readBody(req, res, { limitBytes: limit });
  const decoded = decodeUtf8(bytes);
  if (decoded === undefined) throw new BadRequestError('The form must be UTF-8');
  const text = skipByteOrderMark(decoded);
  if (text.split('&', maxFields + 1).length > maxFields) throw tooMany('fields', maxFields);
  const form = parseQuery(text, 'form');
  for (const name of Object.keys(form)) requireSafeName(name);
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

/** The function that busboy exports. Its type is not in the declarations of this package. */
type CreateBusboy = (config: object) => Writable;

/** The limits of the fields in both encodings. */
type FieldLimits = Required<Pick<FormsOptions, 'limit' | 'maxFields'>>;

interface MultipartSettings extends Required<MultipartOptions>, FieldLimits {
  readonly createBusboy: CreateBusboy;
}

const MAX_LIMIT = Number.MAX_SAFE_INTEGER - 1;

/** @throws {TypeError} if an option is invalid, the folder is not writable, or busboy is missing */
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
  return { ...limits, totalLimit, fileLimit, maxFiles, folder, createBusboy: loadBusboy() };
}

function requireWritable(folder: string): void {
  try {
    accessSync(`${folder}/.`, constants.W_OK | constants.X_OK);
  } catch {
    const expected = 'a folder in which this process may create files';
    throw badOption('forms({ multipart })', { name: 'folder', value: folder, expected });
  }
}

function loadBusboy(): CreateBusboy {
  try {
    return require('busboy');
  } catch {
    return loadOptional('busboy', { user: 'forms({ multipart })', from: import.meta.url });
  }
}

/**
 * Reads a body in the encoding `multipart/form-data` (RFC 7578). Its files are deleted when the response
 * was sent.
 *
 * @throws {PayloadTooLargeError} if it exceeds a limit
 * @throws {BadRequestError} if it is malformed or ends early
 */
async function readMultipart(ctx: Context, settings: MultipartSettings): Promise<Form> {
  const { req, res } = ctx.raw;
  const parser = createParser(req, settings);
  const { promise, resolve, reject: fail } = Promise.withResolvers<Form>();
  // A response before the end of the body, such as that of timeout(): no file may be created later.
  onSent(ctx, () => {
    parser.destroy();
    fail(new BadRequestError('The response was sent before the form was complete'));
  });
  const reading = { settings, fail, save: createFileSaver(ctx, settings.folder) };
  const { parts, end } = collectParts(parser, reading);
  parser.on('error', (cause) => fail(malformed(cause)));
  parser.on('close', () => formOf(parts).then(resolve, fail));
  req.on('error', (error) => fail(bodyUnreadable(error)));
  // busboy ignores data after the last boundary: the callback runs once all data before is parsed.
  req.on('end', () => parser.write('\r\n', end));
  const memory = countBytes(req, reading);
  sendContinue(req, res);
  req.pipe(parser, { end: false });
  try {
    return await promise;
  } catch (error) {
    req.unpipe(parser);
    parser.destroy();
    discardRest(req);
    throw error;
  } finally {
    memory.release();
  }
}

/** @throws {HttpError} if the headers alone are a reason to reject the body */
function createParser(req: IncomingMessage, settings: MultipartSettings): Writable {
  const { limit, maxFields, totalLimit, fileLimit, maxFiles, createBusboy } = settings;
  try {
    if (Number(req.headers['content-length'] ?? 0) > totalLimit) throw bodyTooLarge(totalLimit);
    return createBusboy({
      headers: req.headers,
      defParamCharset: 'utf8',
      // busboy reports a limit when it is reached, and parts that it skips count too.
      limits: {
        fieldSize: limit + 1,
        fields: maxFields,
        fileSize: fileLimit + 1,
        files: maxFiles,
        parts: maxFields + maxFiles + 1,
      },
    });
  } catch (error) {
    discardRest(req);
    throw error instanceof PayloadTooLargeError ? error : malformed(error);
  }
}

function malformed(cause: unknown): BadRequestError {
  return new BadRequestError('The multipart form is malformed or ends early', { cause });
}

/** How the parts of one body are read. */
interface Reading {
  readonly settings: MultipartSettings;
  /** Reports the first error; later ones are ignored. */
  readonly fail: (error: unknown) => void;
  readonly save: SaveFile;
}

/** Any bytes may be fields, which are in memory; files are on the disk. Returns the memory, to be released. */
function countBytes(req: IncomingMessage, { settings, fail }: Reading): BodyMemory {
  const { limit, totalLimit } = settings;
  const memory = new BodyMemory(req);
  const refused = memory.reserve(Math.min(Number(req.headers['content-length'] ?? 0), limit));
  if (refused) fail(refused);
  let size = 0;
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    const error =
      size > totalLimit ? bodyTooLarge(totalLimit) : memory.reserve(Math.min(size, limit));
    if (error) fail(error);
  });
  return memory;
}

/** A field, or a file that is being saved; its value is then `undefined` if no file was selected. */
interface FormPart {
  readonly name: string;
  readonly value: string | Promise<File | undefined>;
}

/** Saves the parts as they arrive. Call `end` when all data was parsed. */
function collectParts(
  parser: Writable,
  { settings, fail, save }: Reading,
): { readonly parts: readonly FormPart[]; readonly end: () => void } {
  const { limit, maxFields, fileLimit, maxFiles } = settings;
  const parts: FormPart[] = [];
  let fieldBytes = 0;
  let lastFile: Readable | undefined;
  const add = (name: string | undefined, value: FormPart['value']) => {
    if (!name) fail(new BadRequestError('Each part of the form must have a name'));
    else parts.push({ name, value });
  };
  parser.on('field', (name: string | undefined, value: string) => {
    fieldBytes += Buffer.byteLength(`${name}${value}`);
    if (fieldBytes > limit) fail(tooMany('bytes of fields', limit));
    else add(name, value);
  });
  parser.on('file', (name: string | undefined, stream: Readable, description: FileDescription) => {
    lastFile = stream;
    stream.on('limit', () => fail(tooMany('bytes per file', fileLimit)));
    const saved = save(stream, description);
    saved.catch(fail);
    add(name, saved);
  });
  parser.on('fieldsLimit', () => fail(tooMany('fields', maxFields)));
  parser.on('filesLimit', () => fail(tooMany('files', maxFiles)));
  parser.on('partsLimit', () => fail(tooMany('parts', maxFields + maxFiles)));
  // `parser.end()` would wait forever for a file without an end that follows the last boundary.
  const end = () => {
    const wasOpen = lastFile?.destroyed === false;
    parser.destroy(); // also destroys a file without an end
    if (wasOpen && lastFile?.destroyed) fail(malformed(lastFile.errored));
  };
  return { parts, end };
}

/** The form of `parts`, once all files are saved. */
async function formOf(parts: readonly FormPart[]): Promise<Form> {
  const form: Form = Object.create(null);
  for (const { name, value } of parts) {
    const content = await value;
    if (content !== undefined) addValue(form, name, content);
  }
  return form;
}

/** The error for a form with more than `limit` of `what`. */
function tooMany(what: string, limit: number): PayloadTooLargeError {
  return new PayloadTooLargeError(`The number of ${what} must not exceed ${limit}`);
}

/** What the client sent about a file. */
interface FileDescription {
  readonly filename: string | undefined;
  readonly mimeType: string;
}

/**
 * Writes `stream` to a file. Resolves with `undefined` for an input without a selected file, which
 * browsers send as an empty file without a name.
 */
type SaveFile = (stream: Readable, description: FileDescription) => Promise<File | undefined>;

/**
 * Creates a function that saves the files of one request in a folder in `parent`, which it creates with
 * the first file and only this user can read. The folder is deleted when the response was sent.
 */
function createFileSaver(ctx: Context, parent: string): SaveFile {
  const saving: Promise<unknown>[] = [];
  let created: Promise<string> | undefined;
  onSent(ctx, async () => {
    await Promise.allSettled(saving);
    if (created)
      await created.then(
        (folder) => remove(ctx, folder),
        () => {},
      );
  });
  const save = async (stream: Readable, file: string, { filename, mimeType }: FileDescription) => {
    created ??= mkdtemp(join(parent, 'form-'));
    const path = join(await created, file);
    await pipeline(stream, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    const content = await openAsBlob(path);
    const baseName = baseNameOf(filename ?? '');
    if (baseName === '' && content.size === 0) return undefined;
    return new File([content], baseName, { type: mimeType });
  };
  return (stream, description) => {
    stream.on('error', () => {}); // pipeline() reports an earlier failure too
    const saved = save(stream, String(saving.length), description);
    saving.push(saved);
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
