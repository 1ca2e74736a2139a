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
import { KEYWORDS, requireJsonSchema } from '../schema/json-schema.ts';
import { isStandardSchema } from '../schema/standard-schema.ts';
import { readErrors, type SecurityRequirements } from './declared-errors.ts';
import type {
  CodesByStatus,
  DeclaredResponse,
  ErrorsOf,
  NoParts,
  ResponseDescription,
  ResponseOf,
} from './response-types.ts';
import type { Validator } from './types.ts';

/** What an operation is for, in the OpenAPI document. */
interface OperationDescription {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: boolean;
  /** `internal` omits the operation from the OpenAPI document and from the tools of `mcp()`. */
  readonly visibility?: 'internal';
  /** Default: derived from the method and the path. */
  readonly operationId?: string;
  /**
   * The accepted security schemes, each with its scopes: `[{ bearer: [] }]`; `[]` for none. Default: that
   * of the guards.
   */
  readonly security?: SecurityRequirements;
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
