import type { ServerResponse } from 'node:http';

import type { Context, Parts } from '../context.ts';
import { describeRoute, markFactories } from '../middleware.ts';
import {
  aBoolean,
  aListOf,
  anObject,
  aString,
  badOption,
  check,
  oneOf,
  readOptions,
} from '../options.ts';
import type { Body } from '../response/write-response.ts';
import { type JsonSchema, requireJsonSchema } from '../schema/json-schema.ts';
import { isStandardSchema, type OutputOf, type StandardSchema } from '../schema/standard-schema.ts';
import { type CodesByStatus, type ErrorsOf, readErrors } from './declared-errors.ts';
import type { NoParts, Validator } from './register.ts';

/** What an operation is for, in the OpenAPI document. */
interface OperationDescription {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: boolean;
  /** `internal` omits the operation from the document. */
  readonly visibility?: 'internal';
  /** Default: derived from the method and the path. */
  readonly operationId?: string;
  /**
   * The accepted security schemes, each with its scopes: `[{ bearer: [] }]`; `[]` for none. Default: that
   * of the guards.
   */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** The media types of the request body. Default: those of the body parser, or JSON without one. */
  readonly bodyTypes?: readonly string[];
}

/** The metadata of one operation. */
export interface EndpointMetadata extends OperationDescription {
  /** Schemas by status code. */
  readonly responses?: Readonly<Record<number, unknown>>;
}

type ResponsesByStatus = Readonly<Record<number, DeclaredResponse>>;

/** Describes one operation. */
export interface EndpointOptions<
  Responses extends ResponsesByStatus = ResponsesByStatus,
  Errors extends CodesByStatus = CodesByStatus,
> extends OperationDescription {
  /** By status code. */
  readonly responses?: Responses;
  /**
   * The codes of the errors that the handler throws, by status: see `ctx.fail`. The handler may throw no
   * others, besides those of the framework.
   */
  readonly errors?: Errors;
  /** Schemas of request parts that the handler reads and no `validate()` checks. */
  readonly reads?: {
    readonly body?: unknown;
    readonly query?: unknown;
    readonly headers?: unknown;
  };
}

/**
 * Describes its route: what the OpenAPI document contains.
 *
 * ```ts
 * router.get('/:id', endpoint({ summary: 'Read an item', responses: { 200: Item, 304: {} } }), read);
 * router.post('/', endpoint({ responses: { 201: Item }, errors: { 409: 'NAME_TAKEN' } }), create);
 * ```
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function endpoint<
  const Responses extends ResponsesByStatus = NoParts,
  const Errors extends CodesByStatus = NoParts,
>(
  options: EndpointOptions<Responses, Errors>,
): Validator<{ readonly response: ResponseOf<Responses>; readonly errors: ErrorsOf<Errors> }> {
  const {
    reads,
    errors,
    responses: declared,
    ...description
  } = readOptions('endpoint()', options, {
    summary: aString,
    description: aString,
    tags: aListOf('a list of strings', aString),
    deprecated: aBoolean,
    visibility: oneOf(['internal']),
    responses: anObject,
    errors: anObject,
    operationId: aString,
    security: aListOf('a list of objects', anObject),
    reads: anObject,
    bodyTypes: aListOf('a list of media types', aString),
  });
  const responses = declared && readResponses(declared);
  return describeRoute({
    endpoint: { ...description, ...(responses && { responses: responses.schemas }) },
    ...(responses?.descriptions && { responses: responses.descriptions }),
    ...(errors && { errors: readErrors(errors), hasErrorContract: true }),
    ...(reads && { validation: reads }),
  });
}

markFactories({ endpoint });

/** How a response appears in the OpenAPI document. */
export interface ResponseDescription {
  /** Default: the reason phrase of the status. */
  readonly description?: string;
  /** A description by header name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default `application/json`, or `application/problem+json` from 400 on. */
  readonly mediaTypes?: readonly string[];
}

/** A response: the schema of its body, or a description with or without a schema. */
export type DeclaredResponse =
  | StandardSchema
  | JsonSchema
  | (ResponseDescription & { readonly schema?: unknown })
  | undefined;

/** The responses of an operation, by status. */
interface DeclaredResponses {
  readonly schemas: Readonly<Record<string, unknown>>;
  /** `undefined` if the operation declares nothing but schemas. */
  readonly descriptions: Readonly<Record<string, ResponseDescription>> | undefined;
}

/**
 * Separates schemas and descriptions.
 *
 * @throws {TypeError} if a status or a description is invalid
 */
function readResponses(declared: Readonly<Record<number, DeclaredResponse>>): DeclaredResponses {
  const schemas: Record<string, unknown> = {};
  const descriptions: Record<string, ResponseDescription> = {};
  for (const [status, response] of Object.entries(declared)) {
    requireStatus(status);
    if (response === undefined || isSchema(response)) {
      schemas[status] = checkTypes(status, response);
      continue;
    }
    const { schema, ...description } = readDescription(status, response);
    schemas[status] = checkTypes(status, schema);
    descriptions[status] = description;
  }
  const isDescribed = Object.keys(descriptions).length > 0;
  return { schemas, descriptions: isDescribed ? descriptions : undefined };
}

/** Keywords that distinguish a JSON Schema from a description; both may have `description`. */
const KEYWORDS = [
  '$ref',
  'type',
  'properties',
  'items',
  'prefixItems',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'const',
  'enum',
] as const;

type JsonSchemaKeyword = (typeof KEYWORDS)[number];

function isSchema(value: unknown): boolean {
  return (
    isStandardSchema(value) ||
    (anObject.accepts(value) && KEYWORDS.some((key) => key in (value as object)))
  );
}

/** @throws {TypeError} if `schema` is a JSON Schema with an unknown type */
function checkTypes(status: string, schema: unknown): unknown {
  if (schema === undefined || isStandardSchema(schema)) return schema;
  try {
    requireJsonSchema(schema, 'output');
    return schema;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Cannot read the schema of response ${status} of endpoint(): ${reason}`;
    throw new TypeError(message, { cause });
  }
}

function requireStatus(status: string): void {
  if (/^[2-5]\d\d$/.test(status)) return;
  const expected = 'a status from 200 to 599';
  throw badOption('endpoint()', { name: 'responses', value: status, expected });
}

function readDescription(status: string, response: object) {
  if (Object.entries(response).some(([name, it]) => name !== 'schema' && isStandardSchema(it))) {
    const expected = 'a schema; wrap a list of fields, as in z.object({ … })';
    throw badOption('endpoint()', { name: `responses.${status}`, value: response, expected });
  }
  return readOptions<ResponseDescription & { readonly schema?: unknown }>(
    `response ${status} of endpoint()`,
    response,
    {
      description: aString,
      headers: anObject,
      mediaTypes: aListOf('a list of media types', aString),
      schema: check(
        'a Standard Schema or a JSON Schema',
        (value) => isStandardSchema(value) || anObject.accepts(value),
      ),
    },
  );
}

/** The type of the JSON that an operation with these responses sends; `unknown` without a contract. */
export type ResponseOf<Responses> = [BodyOf<Responses, SuccessOf<Responses>>] extends [never]
  ? unknown
  : Sent<BodyOf<Responses, keyof Responses>>;

/** The declared statuses from 200 to 299. */
type SuccessOf<Responses> = {
  [Status in keyof Responses]: `${Status & number}` extends `2${string}` ? Status : never;
}[keyof Responses];

/** The union of the declared bodies of `Status`; `never` if these responses have none. */
type BodyOf<Responses, Status extends keyof Responses> = {
  [Key in Status]: SchemaOutput<Responses[Key]>;
}[Status];

type SchemaOutput<Response> = Response extends StandardSchema
  ? OutputOf<Response>
  : Response extends { readonly schema: infer Schema }
    ? OutputOf<Schema>
    : keyof Response & JsonSchemaKeyword extends never
      ? never
      : unknown;

/** `T` with read-only properties: a handler may send objects and lists that it cannot change. */
export type Sent<T> = T extends object
  ? T extends { toJSON(): unknown }
    ? T
    : { readonly [Key in keyof T]: Sent<T[Key]> }
  : T;

/** What a handler may return: any value, or with a contract only the declared response. */
export type Returned<Value, P extends Parts> = 'response' extends keyof P
  ? unknown extends P['response']
    ? Value
    : Fitting<Value, P['response']>
  : Value;

/** `Value` if it fits, else the type that it should have: the compiler reports the difference. */
type Fitting<Value, Declared> =
  Value extends Promise<infer Settled>
    ? Promise<Fitting<Settled, Declared>>
    : Value extends NotJson
      ? Value
      : Value extends Declared
        ? Value & WithoutExcess<Value, Declared>
        : Declared;

/** Returned values that are not sent as JSON: `ctx.json()` returns `undefined`, an empty function `void`. */
type NotJson = undefined | Context | ServerResponse | Exclude<Body, string | null>;

/** The type of a field that the responses do not declare; no value has it. */
interface Undeclared<Name> {
  readonly 'not declared in the responses': Name;
}

type WithoutExcess<Value, Declared> = unknown extends Declared
  ? unknown
  : Value extends object
    ? Value extends { toJSON(): unknown }
      ? unknown
      : Value extends readonly unknown[]
        ? { readonly [Key in keyof Value]: WithoutExcess<Value[Key], At<Declared, number>> }
        : {
            readonly [Key in keyof Value]: Key extends AnyKeyOf<Declared>
              ? WithoutExcess<Value[Key], At<Declared, Key>>
              : Undeclared<Key>;
          }
    : unknown;

type AnyKeyOf<Union> = Union extends unknown ? keyof Union : never;

type At<Union, Key> = Union extends unknown
  ? Key extends keyof Union
    ? Union[Key]
    : never
  : never;
