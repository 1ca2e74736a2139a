import { annotate, type Middleware } from '@fw/core';
import type { EndpointMetadata } from '@fw/router';

import type { ResponseMetadata } from './metadata.ts';

/** One response of an operation; an error needs no `schema`: it is always a problem response. */
export interface DocumentedResponse extends ResponseMetadata {
  readonly schema?: unknown;
}

/** One operation as the document shows it. */
export interface DocumentedOperation extends Omit<EndpointMetadata, 'responses'> {
  /** Schemas of request parts that the handler reads and no `validate()` checks. */
  readonly reads?: {
    readonly body?: unknown;
    readonly query?: unknown;
    readonly headers?: unknown;
  };
  /** The media types of the request body. Default JSON. */
  readonly bodyTypes?: readonly string[];
  /** Responses by status. */
  readonly responses?: Readonly<Record<number, DocumentedResponse>>;
}

/**
 * Describes its route in the document, including request headers, response headers and errors. It does
 * not change requests or responses.
 *
 * ```ts
 * router.get('/:id', documented({ summary: 'Read an item', responses: { 200: { schema: Item } } }), read);
 * ```
 */
export function documented(operation: DocumentedOperation): Middleware {
  const { reads, bodyTypes, responses = {}, ...endpoint } = operation;
  const schemas = Object.entries(responses).filter(([, { schema }]) => schema !== undefined);
  return annotate<Middleware>((_ctx, next) => next(), {
    endpoint: {
      ...endpoint,
      responses: Object.fromEntries(schemas.map(([status, { schema }]) => [status, schema])),
    },
    responses,
    ...(reads && { validation: reads }),
    ...(bodyTypes && { body: { mediaTypes: bodyTypes } }),
  });
}
