import type { Middleware } from '../context.ts';
import { annotate } from '../metadata.ts';
import { aBoolean, aListOf, anObject, aString, oneOf, readOptions } from '../options.ts';
import { markFactories } from '../require-middleware.ts';

/** The metadata of one operation in the OpenAPI document. */
export interface EndpointMetadata {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: boolean;
  /** `internal` omits the operation from the document. */
  readonly visibility?: 'internal';
  /** Schemas by status code. */
  readonly responses?: Readonly<Record<number, unknown>>;
  /** Default: derived from the method and the path. */
  readonly operationId?: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

/**
 * Describes its route in the OpenAPI document; does nothing to requests.
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function endpoint(metadata: EndpointMetadata): Middleware {
  readOptions('endpoint()', metadata, {
    summary: aString,
    description: aString,
    tags: aListOf('a list of strings', aString),
    deprecated: aBoolean,
    visibility: oneOf(['internal']),
    responses: anObject,
    operationId: aString,
    security: aListOf('a list of objects', anObject),
  });
  return annotate<Middleware>((_ctx, next) => next(), { endpoint: metadata });
}

markFactories({ endpoint });
