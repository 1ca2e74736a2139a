import type { Context, MatchedRoute, Middleware, Next, Parts } from '../context.ts';
import type { RouteMetadata } from '../middleware.ts';
import type { ParamsOf } from './pattern.ts';
import type { NoParts, Returned } from './response-types.ts';

/**
 * `Before` with its parts replaced by those of `After`; what guards add to `state` and the declared errors are
 * combined, and an `endpoint()` without a successful response keeps those before it.
 */
export type Replace<Before extends Parts, After extends Parts> = Omit<
  Before,
  Exclude<
    keyof After,
    'state' | 'errors' | (unknown extends After['response'] ? 'response' : never)
  >
> &
  After;

/** `V` after layers that set these parts, in order. */
export type PartsAfter<V extends Parts, Layers extends readonly Parts[]> = Layers extends readonly [
  ...infer Before extends readonly Parts[],
  infer Last extends Parts,
]
  ? Replace<PartsAfter<V, Before>, Last>
  : V;

/** The parts of a request in a route: the parameters of its path, and what layers before have set. */
export type RouteParts<Path extends string, V extends Parts> = NoInfer<
  Omit<{ params: ParamsOf<Path> }, keyof V> & V
>;

/** The last function of a route, which may return its response; its parameters are typed by `Path`. */
export type Handler<Path extends string, V extends Parts = NoParts, Value = unknown> = (
  ctx: Context<RouteParts<Path, V>>,
  next: Next,
) => Returned<Value, V>;

/** A middleware that sets the types of `ctx.params`, `ctx.query`, `ctx.body` or `ctx.state`. */
export interface Validator<After extends Parts, Before extends Parts = Parts> {
  (ctx: Context<Before>, next: Next): unknown;
  /** The types that these have for the functions after it; exists only for the compiler. */
  readonly '~validated'?: (parts: After) => void;
}

/** A middleware that adds `State` to `ctx.state`, or does not call `next()`. */
export type Guard<State extends object> = Validator<{ readonly state: State }>;

/** A middleware of a route. A union, because no plain function is a subtype of a `Validator`. */
export type RouteLayer<Before extends Parts, After extends Parts> =
  | Middleware<Before>
  | Validator<After, Before>;

type PartsOf<Layer> = '~validated' extends keyof Layer
  ? Layer extends Validator<infer After>
    ? After
    : NoParts
  : NoParts;

/** The output of the validators of a list; of each part, the last one. */
export type ValidatedBy<List extends readonly unknown[], V extends Parts> = List extends readonly [
  infer First,
  ...infer Rest,
]
  ? ValidatedBy<Rest, Replace<V, PartsOf<First>>>
  : V;

/** A middleware of the route `Path` that sets `After`, after layers that set `Before`. */
type Layer<
  Path extends string,
  V extends Parts,
  Before extends readonly Parts[],
  After extends Parts,
> = RouteLayer<RouteParts<Path, PartsAfter<V, Before>>, After>;

/** The middleware of the route `Path` that set these parts, in order. */
export type Layers<
  Path extends string,
  V extends Parts,
  All extends readonly Parts[],
> = All extends readonly [...infer Before extends readonly Parts[], infer After extends Parts]
  ? [...Layers<Path, V, Before>, layer: Layer<Path, V, Before, After>]
  : [];

/** The handler of the route `Path`, after layers that set `Before`. */
type Last<Path extends string, V extends Parts, Before extends readonly Parts[], Value> = Handler<
  Path,
  PartsAfter<V, Before>,
  Value
>;

/** The middleware that set these parts, and the handler. */
type Functions<Path extends string, V extends Parts, All extends readonly Parts[], Value> = [
  ...Layers<Path, V, All>,
  handler: Last<Path, V, All, Value>,
];

type Six<T> = [T, T, T, T, T, T];

/** At least six middleware, of which any one may set parts, and the handler. */
type ManyFunctions<Path extends string, V extends Parts, A extends Parts, Value> = [
  ...first: Six<Layer<Path, V, [], A>>,
  ...rest: Layer<Path, V, [], A>[],
  handler: Last<Path, V, [A], Value>,
];

/**
 * Registers a route for one method. The last function is the handler, all others are middleware. What the
 * handler returns, or resolves to, is sent: a string as text; bytes, Blobs and streams as they are;
 * anything else as JSON. `undefined` is 204 unless the handler has sent a response itself.
 *
 * Each function has the types that the validators before it set. With more than five middleware, only the
 * handler has them, from one validator. A list of unknown length (TS2556) must be a tuple, or an argument
 * of `route('GET', path, ...list, handler)`.
 *
 * There is one overload per number of functions: in a single list, the compiler cannot infer what each
 * function sets for the next, and its errors would list all overloads.
 */
export interface Register<
  Start extends readonly string[],
  Prefix extends string,
  V extends Parts,
  Self,
> {
  <const Path extends string>(
    ...args: [...Start, path: Path, handler: Middleware<RouteParts<`${Prefix}${Path}`, V>>]
  ): Self;
  <const Path extends string, const Value, A extends Parts = NoParts>(
    ...args: [...Start, path: Path, ...Functions<`${Prefix}${Path}`, V, [A], Value>]
  ): Self;
  <const Path extends string, const Value, A extends Parts = NoParts, B extends Parts = NoParts>(
    ...args: [...Start, path: Path, ...Functions<`${Prefix}${Path}`, V, [A, B], Value>]
  ): Self;
  <
    const Path extends string,
    const Value,
    A extends Parts = NoParts,
    B extends Parts = NoParts,
    C extends Parts = NoParts,
  >(
    ...args: [...Start, path: Path, ...Functions<`${Prefix}${Path}`, V, [A, B, C], Value>]
  ): Self;
  <
    const Path extends string,
    const Value,
    A extends Parts = NoParts,
    B extends Parts = NoParts,
    C extends Parts = NoParts,
    D extends Parts = NoParts,
  >(
    ...args: [...Start, path: Path, ...Functions<`${Prefix}${Path}`, V, [A, B, C, D], Value>]
  ): Self;
  <
    const Path extends string,
    const Value,
    A extends Parts = NoParts,
    B extends Parts = NoParts,
    C extends Parts = NoParts,
    D extends Parts = NoParts,
    E extends Parts = NoParts,
  >(
    ...args: [...Start, path: Path, ...Functions<`${Prefix}${Path}`, V, [A, B, C, D, E], Value>]
  ): Self;
  <const Path extends string, const Value, A extends Parts = NoParts>(
    ...args: [...Start, path: Path, ...ManyFunctions<`${Prefix}${Path}`, V, A, Value>]
  ): Self;
}

/** Registers any method; also with lists of functions whose length is unknown, such as `...guards`. */
export type RegisterMethod<Prefix extends string, V extends Parts, Self> = Register<
  [method: string],
  Prefix,
  V,
  Self
> &
  RegisterList<Prefix, V, Self>;

/** A validator would set types that a list does not have. */
interface NotValidator {
  readonly '~validated'?: never;
}

interface RegisterList<Prefix extends string, V extends Parts, Self> {
  <const Path extends string, const Value, A extends Parts = NoParts>(
    method: string,
    path: Path,
    ...functions: [
      ...layers: Layer<`${Prefix}${Path}`, V, [], A>[],
      handler: Last<`${Prefix}${Path}`, V, [A], Value>,
    ]
  ): Self;
  <const Path extends string>(
    method: string,
    path: Path,
    ...functions: (Middleware<RouteParts<`${Prefix}${Path}`, V>> & NotValidator)[]
  ): Self;
}

/** Registers routes by method: an application and a router have the same functions. */
export interface RouteMethods<Prefix extends string, Validated extends Parts> {
  /** Registers a route for GET and, unless it has its own route, HEAD. */
  readonly get: Register<[], Prefix, Validated, this>;
  /** Registers a route for POST. */
  readonly post: Register<[], Prefix, Validated, this>;
  /** Registers a route for PUT. */
  readonly put: Register<[], Prefix, Validated, this>;
  /** Registers a route for PATCH. */
  readonly patch: Register<[], Prefix, Validated, this>;
  /** Registers a route for DELETE. */
  readonly delete: Register<[], Prefix, Validated, this>;
  /** Registers a route for HEAD, which takes precedence over the one for GET. */
  readonly head: Register<[], Prefix, Validated, this>;
  /** Registers a route for OPTIONS, which takes precedence over `allowedMethods()`. */
  readonly options: Register<[], Prefix, Validated, this>;
  /** Registers a route for QUERY, the safe method with a body (RFC 10008). */
  readonly query: Register<[], Prefix, Validated, this>;
  /** Registers the same route for GET, POST, PUT, DELETE, PATCH, HEAD and OPTIONS. */
  readonly all: Register<[], Prefix, Validated, this>;
}

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
