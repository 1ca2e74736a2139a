import { describeRoute } from '../metadata.ts';
import { aBoolean, aListOf, anObject, aString, oneOf, readOptions } from '../options.ts';
import { markFactories } from '../require-middleware.ts';

import { type DeclaredResponse, readResponses } from './declared-response.ts';
import type { NoParts, Validator } from './register.ts';
import type { ResponseOf } from './response-type.ts';

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

type DeclaredByStatus = Readonly<Record<number, DeclaredResponse>>;

/** Describes one operation. */
export interface EndpointOptions<Responses extends DeclaredByStatus = DeclaredByStatus>
  extends OperationDescription {
  /** By status code. */
  readonly responses?: Responses;
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
 * ```
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function endpoint<const Responses extends DeclaredByStatus = NoParts>(
  options: EndpointOptions<Responses>,
): Validator<{ readonly response: ResponseOf<Responses> }> {
  const {
    reads,
    responses: declared,
    ...description
  } = readOptions('endpoint()', options, {
    summary: aString,
    description: aString,
    tags: aListOf('a list of strings', aString),
    deprecated: aBoolean,
    visibility: oneOf(['internal']),
    responses: anObject,
    operationId: aString,
    security: aListOf('a list of objects', anObject),
    reads: anObject,
    bodyTypes: aListOf('a list of media types', aString),
  });
  const responses = declared && readResponses(declared);
  return describeRoute({
    endpoint: { ...description, ...(responses && { responses: responses.schemas }) },
    ...(responses?.descriptions && { responses: responses.descriptions }),
    ...(reads && { validation: reads }),
  });
}

markFactories({ endpoint });
