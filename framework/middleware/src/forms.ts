import { isUtf8 } from 'node:buffer';

import { annotate, type Context, type Middleware, markFactories } from '@fw/core';
import { discardRest, hasBody, parseMediaType, parseQuery, readBody } from '@fw/core/extension';
import { anObject, aWholeNumber, readOptions } from '@fw/core/options';
import { BadRequestError, UnsupportedMediaTypeError } from '@fw/errors';

import {
  type FieldLimits,
  type FormPart,
  type MultipartOptions,
  readMultipart,
  readMultipartOptions,
  tooMany,
} from './multipart.ts';

export type { MultipartOptions } from './multipart.ts';

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
    parsers.set(MULTIPART, async (ctx) => formOf(await readMultipart(ctx, settings)));
    limitBytes = Math.max(limit, settings.totalLimit);
  }
  const mediaTypes = [...parsers.keys()];
  const parse: Middleware = async (ctx, next) => {
    const { req } = ctx.raw;
    if (ctx.body !== undefined) return next();
    const isThere = hasBody(req) && !req.readableEnded; // another parser may have read an empty body
    ctx.body = isThere ? await parserOf(ctx, parsers)(ctx) : Object.create(null);
    return next();
  };
  return annotate(parse, { body: { mediaTypes, limit: limitBytes } });
}

/** @throws {UnsupportedMediaTypeError} if the body is not a form in UTF-8, or has a content coding */
function parserOf(ctx: Context, parsers: ReadonlyMap<string, Parse>): Parse {
  const media = parseMediaType(ctx.get('content-type') ?? '');
  const parse = parsers.get(media?.type ?? '');
  const charset = media?.parameters.get('charset') ?? 'utf-8';
  const coding = ctx.get('content-encoding') ?? 'identity';
  if (parse && /^utf-?8$/i.test(charset) && /^identity$/i.test(coding)) return parse;
  discardRest(ctx.raw.req);
  const accepted = [...parsers.keys()].join(', ');
  throw new UnsupportedMediaTypeError(`The body must be a form in UTF-8: ${accepted}`, {
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
  if (!isUtf8(bytes)) throw new BadRequestError('The form must be UTF-8');
  const text = bytes.toString();
  if (text.split('&', maxFields + 1).length > maxFields) throw tooMany('fields', maxFields);
  const form = parseQuery(text, 'form');
  for (const name of Object.keys(form)) requireSafeName(name);
  return form;
}

/** @throws {BadRequestError} if a name is not safe */
function formOf(parts: readonly FormPart[]): Form {
  const form: Form = Object.create(null);
  for (const { name, value } of parts) addValue(form, name, value);
  return form;
}

/** Adds a value to those that the name already has. */
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

markFactories({ forms });
