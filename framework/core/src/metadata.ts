import type { Middleware } from './context.ts';

/** What a middleware says of the routes that it is part of; packages add the keys that they know. */
export interface RouteMetadata {
  /** The path parameters that the middleware needs: a router refuses a route without them. */
  readonly pathParams?: readonly string[];
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
