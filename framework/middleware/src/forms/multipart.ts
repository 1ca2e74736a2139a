import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';

import type { Context } from '@fw/core';
import { bodyTooLarge, bodyUnreadable, discardRest, sendContinue } from '@fw/core/extension';
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
  const files = createTemporaryFiles(ctx, settings.folder);
  try {
    return await new Promise<Form>((resolve, reject) => {
      const form = collect(parser, { files, settings, fail: reject });
      parser.on('error', (cause) => reject(malformed(cause)));
      parser.on('close', () => form().then(resolve, reject));
      req.on('error', (error) => reject(bodyUnreadable(error)));
      limitTotal(req, settings.totalLimit, reject);
      sendContinue(req, res);
      req.pipe(parser);
    });
  } catch (error) {
    req.unpipe(parser);
    parser.destroy();
    discardRest(req);
    throw error;
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

function limitTotal(req: IncomingMessage, totalLimit: number, fail: Fail): void {
  let size = 0;
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > totalLimit) fail(bodyTooLarge(totalLimit));
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

/** Saves the parts as they arrive. Returns a function that resolves with the form once all are saved. */
function collect(parser: Writable, { files, settings, fail }: CollectOptions): () => Promise<Form> {
  const { limit, maxFields, fileLimit, maxFiles } = settings;
  const parts: { readonly name: string; readonly value: string | Promise<File | undefined> }[] = [];
  let fieldBytes = 0;
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
    stream.on('limit', () => fail(tooMany('bytes per file', fileLimit)));
    const saved = files.save(stream, { name: part.filename ?? '', type: part.mimeType });
    saved.catch(fail);
    add(name, saved);
  });
  parser.on('fieldsLimit', () => fail(tooMany('fields', maxFields)));
  parser.on('filesLimit', () => fail(tooMany('files', maxFiles)));
  parser.on('partsLimit', () => fail(tooMany('parts', maxFields + maxFiles)));
  return async () => {
    const form: Form = Object.create(null);
    for (const { name, value } of parts) {
      const saved = await value;
      if (saved !== undefined) addValue(form, name, saved);
    }
    return form;
  };
}
