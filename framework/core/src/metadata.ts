import type { Middleware } from './context.ts';

/** What a middleware says of the routes that it is part of; packages add the keys that they know. */
export interface RouteMetadata {
  /**
   * Returns a path parameter that the middleware needs and that is not in `names`, those of a route: a
   * router refuses that route.
   */
  readonly missingPathParam?: (names: readonly string[]) => string | undefined;
  readonly [key: string]: unknown;
}

const METADATA = Symbol.for('fw.metadata');

interface Annotated {
  readonly [METADATA]?: RouteMetadata;
}

/** Attaches `metadata` to `middleware`: a router hands it on to whoever describes its routes. */
export function annotate<M extends Middleware<never>>(middleware: M, metadata: RouteMetadata): M {
  return Object.assign(middleware, { [METADATA]: metadata });
}

/** What `annotate` attached, if anything. */
export function metadataOf(middleware: object): RouteMetadata | undefined {
  return (middleware as Annotated)[METADATA];
}
