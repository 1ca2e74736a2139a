import { accessSync, constants, createWriteStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { type Context, onSent } from '@fw/core';
import {
  BodyMemory,
  bodyTooLarge,
  bodyUnreadable,
  discardRest,
  sendContinue,
} from '@fw/core/extension';
import { aString, aWholeNumber, badOption, readOptions } from '@fw/core/options';
import { BadRequestError, PayloadTooLargeError } from '@fw/errors';

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

/** The function that busboy exports. Its type is not in the declarations of this package. */
type CreateBusboy = (config: object) => Writable;

/** The limits of the fields in both encodings. */
export interface FieldLimits {
  /** Maximum size of all fields in bytes. */
  readonly limit: number;
  readonly maxFields: number;
}

interface MultipartSettings extends Required<MultipartOptions>, FieldLimits {
  readonly createBusboy: CreateBusboy;
}

const MAX_LIMIT = Number.MAX_SAFE_INTEGER - 1;

/** @throws {TypeError} if an option is invalid, the folder is not writable, or busboy is missing */
export function readMultipartOptions(
  options: MultipartOptions,
  limits: FieldLimits,
): MultipartSettings {
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
    return createRequire(import.meta.url)('busboy');
  } catch (cause) {
    throw new TypeError('Cannot parse multipart forms: install the package "busboy"', { cause });
  }
}

/** Reports the first error; later ones are ignored. */
type Fail = (error: unknown) => void;

/** A part of a form: a field, or a file that is on the disk. */
export interface FormPart {
  readonly name: string;
  readonly value: string | File;
}

/**
 * Reads a body in the encoding `multipart/form-data` (RFC 7578). Its files are deleted when the response
 * was sent.
 *
 * @throws {PayloadTooLargeError} if it exceeds a limit
 * @throws {BadRequestError} if it is malformed or ends early
 */
export async function readMultipart(
  ctx: Context,
  settings: MultipartSettings,
): Promise<readonly FormPart[]> {
  const { req, res } = ctx.raw;
  const parser = createParser(req, settings);
  const { promise, resolve, reject } = Promise.withResolvers<readonly FormPart[]>();
  // A response before the end of the body, such as that of timeout(): no file may be created later.
  onSent(ctx, () => {
    parser.destroy();
    reject(new BadRequestError('The response was sent before the form was complete'));
  });
  const files = createTemporaryFiles(ctx, settings.folder);
  const { end, saved } = collect(parser, { files, settings, fail: reject });
  parser.on('error', (cause) => reject(malformed(cause)));
  parser.on('close', () => saved().then(resolve, reject));
  req.on('error', (error) => reject(bodyUnreadable(error)));
  // busboy ignores data after the last boundary: the callback runs once all data before is parsed.
  req.on('end', () => parser.write('\r\n', end));
  const memory = new BodyMemory(req);
  countBytes(req, { settings, memory, fail: reject });
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

interface CountOptions {
  readonly settings: MultipartSettings;
  readonly memory: BodyMemory;
  readonly fail: Fail;
}

/** Any bytes may be fields, which are in memory; files are on the disk. */
function countBytes(
  req: IncomingMessage,
  { settings: { limit, totalLimit }, memory, fail }: CountOptions,
): void {
  const announced = Number(req.headers['content-length'] ?? 0);
  const refused = memory.reserve(Math.min(announced, limit));
  if (refused) fail(refused);
  let size = 0;
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    const error =
      size > totalLimit ? bodyTooLarge(totalLimit) : memory.reserve(Math.min(size, limit));
    if (error) fail(error);
  });
}

interface FilePart {
  readonly filename: string | undefined;
  readonly mimeType: string;
}

interface CollectOptions {
  readonly files: TemporaryFiles;
  readonly settings: MultipartSettings;
  readonly fail: Fail;
}

interface Collection {
  /** Call it when all data was parsed. */
  end(): void;
  /** Resolves with the parts once all files are saved. */
  saved(): Promise<readonly FormPart[]>;
}

/** Saves the parts as they arrive. */
function collect(parser: Writable, { files, settings, fail }: CollectOptions): Collection {
  const { limit, maxFields, fileLimit, maxFiles } = settings;
  const parts: { readonly name: string; readonly value: string | Promise<File | undefined> }[] = [];
  let fieldBytes = 0;
  let lastFile: Readable | undefined;
  const add = (name: string | undefined, value: string | Promise<File | undefined>) => {
    if (!name) fail(new BadRequestError('Each part of the form must have a name'));
    else parts.push({ name, value });
  };
  parser.on('field', (name: string | undefined, value: string) => {
    fieldBytes += Buffer.byteLength(`${name}${value}`);
    if (fieldBytes > limit) fail(tooMany('bytes of fields', limit));
    else add(name, value);
  });
  parser.on('file', (name: string | undefined, stream: Readable, part: FilePart) => {
    lastFile = stream;
    stream.on('limit', () => fail(tooMany('bytes per file', fileLimit)));
    const saved = files.save(stream, { name: part.filename ?? '', type: part.mimeType });
    saved.catch(fail);
    add(name, saved);
  });
  parser.on('fieldsLimit', () => fail(tooMany('fields', maxFields)));
  parser.on('filesLimit', () => fail(tooMany('files', maxFiles)));
  parser.on('partsLimit', () => fail(tooMany('parts', maxFields + maxFiles)));
  return {
    // `parser.end()` would wait forever for a file without an end that follows the last boundary.
    end() {
      const wasOpen = lastFile?.destroyed === false;
      parser.destroy(); // also destroys a file without an end
      if (wasOpen && lastFile?.destroyed) fail(malformed(lastFile.errored));
    },
    async saved() {
      const complete: FormPart[] = [];
      for (const { name, value } of parts) {
        const content = await value;
        if (content !== undefined) complete.push({ name, value: content });
      }
      return complete;
    },
  };
}

/** The error for a form with more than `limit` of `what`. */
export function tooMany(what: string, limit: number): PayloadTooLargeError {
  return new PayloadTooLargeError(`The number of ${what} must not exceed ${limit}`);
}

interface FileDescription {
  /** The name that the client sent. */
  readonly name: string;
  readonly type: string;
}

/** The files of one request. */
interface TemporaryFiles {
  /**
   * Writes `stream` to a file. Resolves with `undefined` for an input without a selected file, which
   * browsers send as an empty file without a name.
   */
  save(stream: Readable, description: FileDescription): Promise<File | undefined>;
}

/**
 * Creates a folder in `parent` when the first file is saved, which only this user can read. It is deleted
 * when the response was sent.
 */
function createTemporaryFiles(ctx: Context, parent: string): TemporaryFiles {
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
  const save = async (stream: Readable, file: string, { name, type }: FileDescription) => {
    created ??= mkdtemp(join(parent, 'form-'));
    const path = join(await created, file);
    await pipeline(stream, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    const content = await openAsBlob(path);
    const baseName = baseNameOf(name);
    if (baseName === '' && content.size === 0) return undefined;
    return new File([content], baseName, { type });
  };
  return {
    save(stream, description) {
      stream.on('error', () => {}); // pipeline() reports an earlier failure too
      const saved = save(stream, String(saving.length), description);
      saving.push(saved);
      return saved;
    },
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
