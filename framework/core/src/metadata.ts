import type { Middleware } from './context.ts';
import type { Logger } from './logger.ts';

/** Properties of the routes that use a middleware. Each package defines the keys that it reads. */
export interface RouteMetadata {
  /**
   * Returns a path parameter that the middleware needs and that is missing in `names`, the parameters
   * of the route. The router then rejects the route.
   */
  readonly missingPathParam?: (names: readonly string[]) => string | undefined;
  /**
   * Checks what the middleware was given and its position, before an application that uses it serves
   * requests.
   */
  readonly onReady?: (log: Logger, isAfterRoutes: boolean) => void;
  readonly [key: string]: unknown;
}

const METADATA = Symbol.for('fw.metadata');

interface Annotated {
  readonly [METADATA]?: RouteMetadata;
}

/** Attaches `metadata` to `middleware`; `router.getRoutes()` returns it. */
export function annotate<M extends Middleware<never>>(middleware: M, metadata: RouteMetadata): M {
  return Object.assign(middleware, { [METADATA]: metadata });
}

/** The metadata that `annotate` attached. */
export function metadataOf(middleware: object): RouteMetadata | undefined {
  return (middleware as Annotated)[METADATA];
}

const describing = new WeakSet<object>();

/** A middleware that only has `metadata`: chains omit it, so that it costs no request anything. */
export function describeRoute(metadata: RouteMetadata): Middleware {
  const description = annotate<Middleware>((_ctx, next) => next(), metadata);
  describing.add(description);
  return description;
}

/** Whether `describeRoute` created the middleware. */
export function onlyDescribes(middleware: object): boolean {
  return describing.has(middleware);
}

const routing = new WeakSet<object>();

/** Marks middleware that runs routes. */
export function markRoutes<M extends Middleware>(middleware: M): M {
  routing.add(middleware);
  return middleware;
}

/** Whether `markRoutes` marked the middleware. */
export function runsRoutes(middleware: object): boolean {
  return routing.has(middleware);
}
