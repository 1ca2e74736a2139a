import { annotate, type Context, markFactories, type Next } from '@fw/core';
import { hasBody, isReadStarted } from '@fw/core/body';
import { hasParsedBody, setParts } from '@fw/core/extension';
import { anObject, check, readOptions } from '@fw/core/options';
import {
  isStandardSchema,
  type OutputOf,
  type SchemaResult,
  type StandardSchema,
} from '@fw/core/schema';
import { ValidationError, type ValidationIssue } from '@fw/errors';
import { MAX_ISSUES, readIssues } from './issues.ts';
import { missingPathParam } from './missing-path-param.ts';
import { listNamesOf, requireTextInput } from './text-input.ts';

/** Schemas for parts of a request. */
export interface RequestSchemas {
  readonly body?: StandardSchema;
  readonly query?: StandardSchema;
  readonly params?: StandardSchema;
  /** Names are in lower case; `ctx.headers` is not changed. */
  readonly headers?: StandardSchema;
}

export interface ValidateOptions {
  /** The status for an invalid request. Default 400. */
  readonly status?: 400 | 422;
}

/** A middleware that changes the types of these parts of `ctx` for the following handlers. */
export interface ValidateMiddleware<Outputs> {
  (ctx: Context, next: Next): unknown;
  readonly '~validated'?: (parts: Outputs) => void;
}

type OutputsOf<Schemas extends RequestSchemas> = {
  readonly [Part in Exclude<keyof Schemas, 'headers'>]: OutputOf<Schemas[Part]>;
};

type Part = keyof RequestSchemas;
const PARTS: readonly Part[] = ['params', 'query', 'headers', 'body'];

/**
 * Validates parts of a request with schemas of any Standard Schema library. `ctx.body`, `ctx.query` and
 * `ctx.params` then contain the typed outputs of the schemas. An invalid request gets one 400 response
 * with all issues. A single schema validates the body.
 *
 * ```ts
 * router.post('/:id', validate({ body: z.object({ name: z.string() }) }), (ctx) => {
 *   ctx.json({ hello: ctx.body.name });
 * });
 * ```
 *
 * @throws {TypeError} if a part or option is unknown, its value is not a schema or not a known status, or
 *   the schema of a part other than the body expects a number, a boolean or, except in the query, a list,
 *   which text is not
 */
export function validate<Schema extends StandardSchema>(
  schema: Schema,
  options?: ValidateOptions,
): ValidateMiddleware<{ readonly body: OutputOf<Schema> }>;
export function validate<Schemas extends RequestSchemas>(
  schemas: Schemas,
  options?: ValidateOptions,
): ValidateMiddleware<OutputsOf<Schemas>>;
export function validate(
  what: StandardSchema | RequestSchemas,
  options: ValidateOptions = {},
): ValidateMiddleware<unknown> {
  const schemas = readSchemas(what);
  const { params } = schemas;
  const { status = 400 } = readOptions('validate()', options, {
    status: check('400 or 422', (value) => value === 400 || value === 422),
  });
  const checks = PARTS.flatMap((part) => {
    const schema = schemas[part];
    return schema ? [{ part, schema }] : [];
  });
  for (const { part, schema } of checks) {
    if (part !== 'body') requireTextInput(part, schema, { lists: part === 'query' });
  }
  const { query, body } = schemas;
  const queryLists = query && listNamesOf(query);
  let formLists: readonly string[] | undefined;
  const listsOf = (ctx: Context, part: Part): readonly string[] | undefined => {
    if (part === 'query') return queryLists;
    if (part !== 'body' || !FORM.test(ctx.headers['content-type'] ?? '')) return undefined;
    formLists ??= body && listNamesOf(body);
    return formLists;
  };
  const inputOf = (ctx: Context, part: Part): unknown => {
    const names = listsOf(ctx, part);
    return names ? withLists(ctx[part], names) : ctx[part];
  };

  return annotate(
    (ctx: Context, next: Next) => {
      if (schemas.body && !hasParsedBody(ctx)) requireParser(ctx);
      const outcomes = checks.map(({ part, schema }) =>
        checkPart(schema, part, inputOf(ctx, part)),
      );
      if (!outcomes.some(isPromise)) {
        replaceParts(ctx, outcomes as Outcome[], status);
        return next();
      }
      return Promise.all(outcomes).then((settled) => {
        replaceParts(ctx, settled, status);
        return next();
      });
    },
    {
      validation: { ...schemas, status },
      errors: [{ status, code: 'VALIDATION_FAILED' }],
      ...(body && { onForm: () => requireTextInput('body', body, { lists: true }) }),
      ...(params && {
        missingPathParam: (names: readonly string[]) => missingPathParam(params, names),
      }),
    },
  );
}

const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;

/** The fields `input`, with a list of one in place of a single value of each of `names`. */
function withLists(input: unknown, names: readonly string[]): unknown {
  const fields = Object(input);
  const single = names.filter((name) => Object.hasOwn(fields, name) && isSingle(fields[name]));
  if (single.length === 0) return input;
  const lists = single.map((name) => [name, [fields[name]]]);
  return Object.assign(Object.create(null), fields, Object.fromEntries(lists));
}

/** Whether `value` is the value of a parameter or a field that is not repeated. */
function isSingle(value: unknown): boolean {
  return typeof value === 'string' || value instanceof Blob;
}

function readSchemas(what: StandardSchema | RequestSchemas): RequestSchemas {
  if (isStandardSchema(what)) return { body: what };
  if (!anObject.accepts(what) || Object.keys(what).length === 0) {
    throw new TypeError(
      `Cannot validate with "${String(what)}": expected a Standard Schema, or schemas for ${PARTS.join(', ')}`,
    );
  }
  const aSchema = check(
    'a Standard Schema; wrap a list of fields, as in z.object({ … })',
    isStandardSchema,
  );
  return readOptions('validate()', what, {
    params: aSchema,
    query: aSchema,
    headers: aSchema,
    body: aSchema,
  });
}

/** @throws {TypeError} if the request has a body that no middleware has started to read */
function requireParser(ctx: Context): void {
  const { req } = ctx.raw;
  // A parser of Express sets `req.body` even if it does not read the media type of the request.
  if (!hasBody(req) || req.readableFlowing !== null || isReadStarted(req) || 'body' in req) return;
  const { method, path } = ctx.route ?? ctx;
  throw new TypeError(
    `Cannot validate the body of ${method} ${path}: no parser has read it; register json() before the routes`,
  );
}

/** The result of one part; `failure` is the error that its schema threw. */
type Outcome = { readonly part: Part } & (
  | { readonly value: unknown }
  | { readonly issues: readonly ValidationIssue[] }
  | { readonly failure: unknown }
);

/** Never throws or rejects, so that every part is checked. */
function checkPart(schema: StandardSchema, part: Part, input: unknown): Outcome | Promise<Outcome> {
  const read = (result: SchemaResult<unknown>): Outcome =>
    result.issues
      ? { part, issues: readIssues(part, result.issues, input) }
      : { part, value: result.value };
  const fail = (failure: unknown): Outcome =>
    isStackOverflow(failure) && isDeep(input)
      ? { part, issues: [{ in: part, pointer: '', detail: 'Nested too deeply' }] }
      : { part, failure };
  try {
    const result = schema['~standard'].validate(input);
    return isPromise(result) ? Promise.resolve(result).then(read).catch(fail) : read(result);
  } catch (error) {
    return fail(error);
  }
}

/** Sets all outputs in `ctx`. */
function replaceParts(ctx: Context, outcomes: readonly Outcome[], status: number): void {
  const issues: ValidationIssue[] = [];
  const valid: { readonly part: Part; readonly value: unknown }[] = [];
  for (const outcome of outcomes) {
    if ('failure' in outcome) throw outcome.failure;
    if ('value' in outcome) valid.push(outcome);
    else issues.push(...outcome.issues); // or none: a schema may reject a value without an issue
  }
  if (valid.length < outcomes.length) {
    throw new ValidationError(issues.slice(0, MAX_ISSUES), { status });
  }
  for (const { part, value } of valid) {
    if (part === 'body') ctx.body = value;
    else setParts(ctx, { [part]: value });
  }
}

function isPromise<T>(value: T | PromiseLike<T>): value is Promise<T> {
  return typeof (value as PromiseLike<T>).then === 'function';
}

function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && /call stack/i.test(error.message);
}

/** Deeper than any schema needs. */
const DEEP = 200;

function isDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEP) return true;
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    );
  }
  return false;
}

markFactories({ validate });
