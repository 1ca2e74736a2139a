import type { Middleware } from './context.ts';
import type { Logger } from './logger.ts';

/** Whether routes precede a middleware of an application, and whether some follow. */
export interface Position {
  readonly isAfterRoutes: boolean;
  readonly isBeforeRoutes: boolean;
}

/** Properties of the routes that use a middleware. Each package defines the keys that it reads. */
export interface RouteMetadata {
  /**
   * Returns a path parameter that the middleware needs and that is missing in `names`, the parameters
   * of the route. The router then rejects the route.
   */
  readonly missingPathParam?: (names: readonly string[]) => string | undefined;
  /** Checks that the middleware fits a route that reads only forms: all values of its body are text. */
  readonly onForm?: () => void;
  /**
   * Checks what the middleware was given and its position, before an application that uses it serves
   * requests.
   */
  readonly onReady?: (log: Logger, position: Position) => void;
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

/** Middleware that only describes its routes, or that runs routes. */
const kinds = new WeakMap<object, 'description' | 'routes'>();

/** A middleware that only has `metadata`: chains omit it, so that it costs no request anything. */
export function describeRoute(metadata: RouteMetadata): Middleware {
  const description = annotate<Middleware>((_ctx, next) => next(), metadata);
  kinds.set(description, 'description');
  return description;
}

/** Whether `describeRoute` created the middleware. */
export function onlyDescribes(middleware: object): boolean {
  return kinds.get(middleware) === 'description';
}

/** Marks middleware that runs routes. */
export function markRoutes<M extends Middleware>(middleware: M): M {
  kinds.set(middleware, 'routes');
  return middleware;
}

/** Whether `markRoutes` marked the middleware. */
export function runsRoutes(middleware: object): boolean {
  return kinds.get(middleware) === 'routes';
}

/** Returns middleware that runs `run` for requests whose path is one for which `isUnder` returns true. */
export function runUnder(isUnder: (path: string) => boolean, run: Middleware): Middleware {
  return (ctx, next) => (isUnder(ctx.path) ? run(ctx, next) : next());
}

const FACTORY = Symbol.for('fw.factory');
const PLUGIN = Symbol.for('fw.plugin');

/**
 * Marks functions that return middleware, such as `markFactories({ json })`. Registering the factory
 * itself then throws: `app.use(json)` instead of `app.use(json())`.
 */
export function markFactories(factories: Readonly<Record<string, object>>): void {
  for (const [name, factory] of Object.entries(factories)) {
    Object.defineProperty(factory, FACTORY, { value: name });
  }
}

/** Marks `plugin`, so that registering it as middleware throws. */
export function markPlugin<P extends object>(plugin: P): P {
  return Object.assign(plugin, { [PLUGIN]: true });
}

/** @throws {TypeError} starting with `action`, if one of `values` is not middleware */
export function requireMiddleware(values: readonly unknown[], action: string): void {
  for (const value of values) {
    rejectFactory(value, action);
    if (typeof value === 'function' && PLUGIN in value) {
      throw new TypeError(`${action} a plugin as middleware: use app.plugin(plugin)`);
    }
    if (typeof value === 'function') {
      rejectExpress(value, action);
      continue;
    }
    if (value instanceof RegExp) {
      throw new TypeError(
        `${action} "${value}": expected a middleware function or a prefix as text`,
      );
    }
    if (Array.isArray(value)) {
      throw new TypeError(`${action} a list: pass each middleware as an argument, as in ...list`);
    }
    if (isRouter(value)) {
      throw new TypeError(`${action} a router: use app.route(prefix, router) or router.routes()`);
    }
    throw new TypeError(`${action} "${String(value)}": expected a middleware function`);
  }
}

/** @throws {TypeError} if `value` has the three or four parameters of Express middleware */
function rejectExpress({ length }: { readonly length: number }, action: string): void {
  if (length === 3) {
    throw new TypeError(
      `${action} (req, res, next): middleware takes (ctx, next); connect() of @fw/middleware runs Express middleware`,
    );
  }
  if (length === 4) {
    throw new TypeError(
      `${action} (err, req, res, next): middleware takes (ctx, next); errorHandler() sends errors, and try { await next() } catch (error) { … } handles them`,
    );
  }
}

/** @throws {TypeError} starting with `action`, if `value` is a marked factory */
export function rejectFactory(value: unknown, action: string): void {
  if (typeof value !== 'function') return;
  const { [FACTORY]: factory } = value as { readonly [FACTORY]?: string };
  if (factory !== undefined) {
    throw new TypeError(`${action} ${factory}: call it, as in ${factory}()`);
  }
}

function isRouter(value: unknown): boolean {
  return typeof (value as { routes?: unknown } | null | undefined)?.routes === 'function';
}
