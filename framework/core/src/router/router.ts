import type { MatchedRoute, Middleware, Parts } from '../context.ts';
import type { RouteMetadata } from '../middleware.ts';

import type { NoParts } from './response-types.ts';
import type {
  Layers,
  PartsAfter,
  RegisterMethod,
  RouteMethods,
  RouteParts,
  ValidatedBy,
} from './types.ts';

export interface RouterOptions {
  /** Prefix for all routes. Default none. */
  readonly prefix?: string;
  /** Whether `/Users` and `/users` are two paths. Default false. */
  readonly caseSensitive?: boolean;
  /** Whether `/users` and `/users/` are two paths. Default false. */
  readonly strict?: boolean;
}

export interface AllowedMethodsOptions {
  /** The media types that PATCH accepts: `Accept-Patch` of OPTIONS (RFC 5789 §3.1). Default none. */
  readonly patchTypes?: readonly string[];
}

/** A route with its full path and the metadata of its middleware. */
export interface RouteDefinition extends MatchedRoute {
  readonly metadata: RouteMetadata;
}

/** The route for a path, and its parameters. */
export interface RouteMatch {
  readonly route: MatchedRoute;
  readonly params: Record<string, string>;
}

/** Registers the routes of a group, after middleware that sets these parts. */
type Callback<Path extends string, V extends Parts, All extends readonly Parts[]> = (
  group: Router<Path, NoInfer<PartsAfter<V, All>>>,
) => void;

/** Groups routes; the routes have the types that validators among the middleware set. */
interface Group<Prefix extends string, V extends Parts, Self> {
  <const Path extends string>(
    prefix: Path,
    callback: (group: Router<`${Prefix}${Path}`, V>) => void,
  ): Self;
  <const Path extends string, A extends Parts = NoParts>(
    prefix: Path,
    ...rest: [...Layers<`${Prefix}${Path}`, V, [A]>, Callback<`${Prefix}${Path}`, V, [A]>]
  ): Self;
  <const Path extends string, A extends Parts = NoParts, B extends Parts = NoParts>(
    prefix: Path,
    layers: Readonly<Layers<`${Prefix}${Path}`, V, [A, B]>>,
    callback: Callback<`${Prefix}${Path}`, V, [A, B]>,
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
    ...rest: [...Layers<`${Prefix}${Path}`, V, [A, B]>, Callback<`${Prefix}${Path}`, V, [A, B]>]
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
export interface Router<Prefix extends string = '', Validated extends Parts = NoParts>
  extends RouteMethods<Prefix, Validated> {
  /** Registers any method. */
  readonly route: RegisterMethod<Prefix, Validated, this>;
  /** Registers routes under `prefix` that run after the middleware between prefix and callback. */
  readonly group: Group<Prefix, Validated, this>;
  /** Adds middleware for all routes of this router, including routes registered before. */
  use(...middleware: readonly Middleware[]): this;
  /** Adds middleware for the routes under `path`, or mounts a router there. */
  use(path: string, ...layers: readonly (Middleware | AnyRouter)[]): this;
  /** Adds the routes of `router` under `path`; later changes to `router` take effect. */
  mount(path: string, router: AnyRouter): this;
  /**
   * Redirects `from` to `to`, by default with status 301. A segment of `to` that starts with `:name`
   * is replaced by that parameter of `from`; the query of the request is kept.
   */
  redirect(from: string, to: string, status?: number): this;
  /** Returns the middleware that runs the routes under `prefix`. Default prefix: none. */
  routes(prefix?: string): Middleware;
  /**
   * Returns middleware that responds to other methods of known paths. Add it after the routes. An application
   * that uses it does not start if this router has paths and is not mounted.
   */
  allowedMethods(options?: AllowedMethodsOptions): Middleware;
  /** Removes all routes, middleware and mounts. */
  reset(): this;
  /** Every route with its full path, once for each place where the router is mounted. */
  getRoutes(): readonly RouteDefinition[];
  /** The paths of this router that are not served, because neither it nor a parent is mounted on an application. */
  unservedPaths(): readonly string[];
  /** Finds the route for a path, which is normalised first, and runs nothing. */
  match(method: string, path: string): RouteMatch | undefined;
}

/** A router with any prefix. */
export type AnyRouter = Pick<Router, 'routes' | 'getRoutes' | 'match'>;
