import { annotate, type Middleware, markFactories } from '@fw/core';

/** What the documentation says of one operation. */
export interface EndpointMetadata {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: boolean;
  /** `internal` keeps the operation out of the document. */
  readonly visibility?: 'internal';
  /** A schema by status code. */
  readonly responses?: Readonly<Record<number, unknown>>;
  /** Default: made from the method and the path. */
  readonly operationId?: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

/** Describes the route that it stands in; does nothing to its requests. */
export function endpoint(metadata: EndpointMetadata): Middleware {
  return annotate<Middleware>((_ctx, next) => next(), { endpoint: metadata });
}

markFactories({ endpoint });
