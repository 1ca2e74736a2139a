import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';

import { type Context, onSent } from '@fw/core';
import {
  BodyMemory,
  bodyTooLarge,
  bodyUnreadable,
  discardRest,
  sendContinue,
} from '@fw/core/extension';
import { BadRequestError, PayloadTooLargeError } from '@fw/errors';

import { addValue, type FieldLimits, type Form, tooMany } from './form.ts';
import type { MultipartSettings } from './multipart-options.ts';
import { createTemporaryFiles, type TemporaryFiles } from './temporary-files.ts';

export type Settings = FieldLimits & MultipartSettings;

/** Reports the first error; later ones are ignored. */
type Fail = (error: unknown) => void;

/**
 * Reads a body in the encoding `multipart/form-data` (RFC 7578). Its files are deleted when the response
 * was sent.
 *
 * @throws {PayloadTooLargeError} if it exceeds a limit
 * @throws {BadRequestError} if it is malformed or ends early
 */
export async function readMultipart(ctx: Context, settings: Settings): Promise<Form> {
  const { req, res } = ctx.raw;
  const parser = createParser(req, settings);
  const { promise, resolve, reject } = Promise.withResolvers<Form>();
  // A response before the end of the body, such as that of timeout(): no file may be created later.
  onSent(ctx, () => {
    parser.destroy();
    reject(new BadRequestError('The response was sent before the form was complete'));
  });
  const files = createTemporaryFiles(ctx, settings.folder);
  const { end, form } = collect(parser, { files, settings, fail: reject });
  parser.on('error', (cause) => reject(malformed(cause)));
  parser.on('close', () => form().then(resolve, reject));
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
function createParser(req: IncomingMessage, settings: Settings): Writable {
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
  readonly settings: Settings;
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
  readonly settings: Settings;
  readonly fail: Fail;
}

interface Collection {
  /** Call it when all data was parsed. */
  end(): void;
  /** Resolves with the form once all parts are saved. */
  form(): Promise<Form>;
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
    async form() {
      const form: Form = Object.create(null);
      for (const { name, value } of parts) {
        const saved = await value;
        if (saved !== undefined) addValue(form, name, saved);
      }
      return form;
    },
  };
}
