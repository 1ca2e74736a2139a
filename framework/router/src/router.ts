import {
  type MatchedRoute,
  type Middleware,
  markFactories,
  type Parts,
  type RouteMetadata,
} from '@fw/core';

import type { AllowedMethodsOptions } from './allowed-methods.ts';
import type {
  NoParts,
  Register,
  Replace,
  RouteLayer,
  RouteParts,
  ValidatedBy,
} from './register.ts';
import { TreeRouter } from './tree-router.ts';

export interface RouterOptions {
  /** Prefix for all routes. Default none. */
  readonly prefix?: string;
  /** Whether `/Users` and `/users` are two paths. Default false. */
  readonly caseSensitive?: boolean;
  /** Whether `/users` and `/users/` are two paths. Default false. */
  readonly strict?: boolean;
}

/** A route as documents see it: its whole path, and what its middleware says of it. */
export interface RouteDefinition extends MatchedRoute {
  readonly metadata: RouteMetadata;
}

/** What a request would run, and with which parameters. */
export interface RouteMatch {
  readonly route: MatchedRoute;
  readonly params: Record<string, string>;
}

/** Groups routes; what validators among the middleware put in place, all of its routes read. */
interface Group<Prefix extends string, V extends Parts, Self> {
  <const Path extends string>(
    prefix: Path,
    callback: (group: Router<`${Prefix}${Path}`, V>) => void,
  ): Self;
  <const Path extends string, A extends Parts = NoParts>(
    prefix: Path,
    a: RouteLayer<RouteParts<`${Prefix}${Path}`, V>, A>,
    callback: (group: Router<`${Prefix}${Path}`, NoInfer<Replace<V, A>>>) => void,
  ): Self;
  <
    const Path extends string,
    const List extends readonly Middleware<RouteParts<`${Prefix}${Path}`, V>>[],
  >(
    prefix: Path,
    layers: List,
    callback: (group: Router<`${Prefix}${Path}`, ValidatedBy<List, V>>) => void,
  ): Self;
  <const Path extends string, A extends Parts = NoParts, B extends Parts = NoParts>(
    prefix: Path,
    a: RouteLayer<RouteParts<`${Prefix}${Path}`, V>, A>,
    b: RouteLayer<RouteParts<`${Prefix}${Path}`, Replace<V, A>>, B>,
    callback: (group: Router<`${Prefix}${Path}`, NoInfer<Replace<Replace<V, A>, B>>>) => void,
  ): Self;
  <const Path extends string>(
    prefix: Path,
    ...rest: [
      ...(
        | Middleware<RouteParts<`${Prefix}${Path}`, V>>
        | readonly Middleware<RouteParts<`${Prefix}${Path}`, V>>[]
      )[],
      (group: Router<`${Prefix}${Path}`, V>) => void,
    ]
  ): Self;
}

/** Maps methods and paths to handlers; the most specific route wins, in any order of registration. */
export interface Router<Prefix extends string = '', Validated extends Parts = NoParts> {
  readonly get: Register<[], Prefix, Validated, this>;
  readonly post: Register<[], Prefix, Validated, this>;
  readonly put: Register<[], Prefix, Validated, this>;
  readonly patch: Register<[], Prefix, Validated, this>;
  readonly delete: Register<[], Prefix, Validated, this>;
  readonly head: Register<[], Prefix, Validated, this>;
  readonly options: Register<[], Prefix, Validated, this>;
  /** The safe method with a body (RFC 10008). */
  readonly query: Register<[], Prefix, Validated, this>;
  /** GET, POST, PUT, DELETE, PATCH, HEAD and OPTIONS. */
  readonly all: Register<[], Prefix, Validated, this>;
  /** Registers any method. */
  readonly route: Register<[method: string], Prefix, Validated, this>;
  /** Registers routes below `prefix`, behind the middleware between it and the callback. */
  readonly group: Group<Prefix, Validated, this>;
  /** Adds middleware that runs before every route of this router, whenever it was registered. */
  use(...middleware: readonly Middleware[]): this;
  /** Adds middleware for the routes at `path` and below it, or mounts a router there. */
  use(path: string, ...layers: readonly (Middleware | AnyRouter)[]): this;
  /** Makes the routes of `router` routes of this one, below `path`; later changes to it take effect. */
  mount(path: string, router: AnyRouter): this;
  /**
   * Groups routes below `prefix`, which counts once: where this router is mounted at a place that
   * ends in it, it is not repeated. Serves whoever registers routes before they are mounted.
   */
  prefixGroup<const Path extends string>(prefix: Path): Router<`${Prefix}${Path}`, Validated>;
  /**
   * Redirects `from` to `to`, by default with status 301. A segment of `to` that begins with `:name`
   * contains the value of that parameter of `from`; the query of the request is kept.
   */
  redirect(from: string, to: string, status?: number): this;
  /** The middleware that runs the routes, below `prefix`. */
  routes(prefix?: string): Middleware;
  /** The middleware that answers 405 and OPTIONS for known paths. Add it after the routes. */
  allowedMethods(options?: AllowedMethodsOptions): Middleware;
  /** Clears routes, middleware and mounts. */
  reset(): this;
  /** Every route by its whole path, once for each place that the router is mounted at. */
  getRoutes(): readonly RouteDefinition[];
  /** The route for a path, without running it. */
  match(method: string, path: string): RouteMatch | undefined;
  /** Draws the routes as a tree. */
  print(): string;
}

/** A router, whatever its prefix. */
export type AnyRouter = Pick<Router, 'routes' | 'getRoutes' | 'match' | 'print'>;

/**
 * Creates a router.
 *
 * ```ts
 * const router = createRouter().get('/users/:id', (ctx) => ctx.json({ id: ctx.params.id }));
 * app.route('/api', router);
 * ```
 *
 * @throws {TypeError} if an option is unknown or has a value that it cannot have
 */
export function createRouter<const Prefix extends string = ''>(
  options: RouterOptions & { readonly prefix?: Prefix } = {},
): Router<Prefix> {
  return new TreeRouter(options) as Router<string> as Router<Prefix>;
}

markFactories({ createRouter });
