import { type Chain, compose, type Middleware, type RouteMetadata } from '@fw/core';
import {
  createPrefixTest,
  metadataOf,
  readPattern,
  requireMiddleware,
  sendReturned,
  setRoute,
  unmatchedStatus,
} from '@fw/core/extension';
import { aBoolean, aString, readOptions } from '@fw/core/options';

import { type AllowedMethodsOptions, answerMethods } from './allowed-methods.ts';
import { joinPaths, namesIn, readRoutePattern } from './pattern.ts';
import { drawRoutes } from './print.ts';
import { keepsMethod, redirectTo } from './redirect.ts';
import type { AnyRouter, RouteDefinition, Router, RouterOptions } from './router.ts';
import { Tree } from './tree.ts';

/** A middleware of a router, for all of its routes or for those below `path`. */
interface Layer {
  readonly path: string | undefined;
  readonly run: Middleware;
}

/** The layers of a router that a route lies in, which may grow; their paths are below `base`. */
interface Scope {
  readonly base: string;
  readonly layers: readonly Layer[];
}

/** A route on its way into a tree. */
interface Registration {
  readonly method: string;
  readonly path: string;
  readonly scopes: readonly Scope[];
  readonly handlers: readonly Middleware[];
  /** The start of `path` that a place need not repeat. */
  readonly once?: string | undefined;
}

/** A route in its place. */
interface Route extends Registration {
  chain: Chain | undefined;
}

interface Mount {
  readonly path: string;
  readonly router: TreeRouter;
  /** Whether `path` is not repeated where it is part of the place already. */
  readonly once?: boolean;
}

/** A function of a route, whatever parts of a request it reads: `Register` has seen to those. */
type AnyHandler = Middleware<never>;

const ALL = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'];

/** A router of trees: static text before parameters, parameters before wildcards. */
export class TreeRouter implements Router<string> {
  readonly #prefix: string;
  readonly #caseSensitive: boolean;
  readonly #strict: boolean;
  /** What was asked of this router, in order: enough to build the rest again. */
  #asked: (Registration | Mount)[] = [];
  #layers: Layer[] = [];
  #parents: Mount[] = [];

  #tree: Tree;
  #routes: Route[] = [];
  /** The parameters of each route; routes that have the same names share one list. */
  #names: (readonly string[])[] = [];
  readonly #nameLists = new Map<string, readonly string[]>();
  /** By method: the index of the route at each leaf of the tree, -1 for none. */
  #byMethod = new Map<string, Int32Array>();
  /** Open at every leaf of the tree, for `Tree.find`. */
  #everyLeaf = new Int32Array(0);
  /** Whether requests are matched with this router's own tree, besides those of its parents. */
  #isServed = false;

  constructor(options: RouterOptions) {
    const {
      prefix = '',
      caseSensitive = false,
      strict = false,
    } = readOptions('createRouter()', options, {
      prefix: aString,
      caseSensitive: aBoolean,
      strict: aBoolean,
    });
    this.#prefix =
      prefix === '' ? '' : joinPaths(readPattern(prefix, `Cannot use prefix "${prefix}"`), '/');
    this.#caseSensitive = caseSensitive;
    this.#strict = strict;
    this.#tree = new Tree({ caseSensitive, strict });
  }

  get(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.route('GET', path, ...handlers);
  }

  post(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.route('POST', path, ...handlers);
  }

  put(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.route('PUT', path, ...handlers);
  }

  patch(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.route('PATCH', path, ...handlers);
  }

  delete(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.route('DELETE', path, ...handlers);
  }

  head(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.route('HEAD', path, ...handlers);
  }

  options(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.route('OPTIONS', path, ...handlers);
  }

  query(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.route('QUERY', path, ...handlers);
  }

  all(path: string, ...handlers: readonly AnyHandler[]): this {
    for (const method of ALL) this.route(method, path, ...handlers);
    return this;
  }

  route(method: string, path: string, ...handlers: readonly AnyHandler[]): this {
    const name = String(method).toUpperCase();
    if (!/^[A-Z][A-Z-]*$/.test(name)) {
      throw new TypeError(`Cannot register ${name} ${path}: expected a method name`);
    }
    if (handlers.length === 0) {
      throw new TypeError(`Cannot register ${name} ${path}: expected a handler`);
    }
    requireMiddleware(handlers, `Cannot register ${name} ${path} with`);
    readRoutePattern(name, path);
    const pattern = readRoutePattern(name, joinPaths(this.#prefix, path));
    this.#ask({
      method: name,
      path: pattern,
      scopes: [this.#scope()],
      handlers: handlers as readonly Middleware[],
    });
    return this;
  }

  group(prefix: string, ...rest: readonly unknown[]): this {
    const layers = rest.slice(0, -1).flat();
    const callback = rest.at(-1);
    if (typeof callback !== 'function') {
      throw new TypeError(`Cannot group routes at "${prefix}": expected a callback`);
    }
    const group = new TreeRouter({ caseSensitive: this.#caseSensitive, strict: this.#strict });
    group.use(...(layers as Middleware[]));
    this.mount(prefix, group);
    callback(group);
    return this;
  }

  use(...args: readonly (string | Middleware | AnyRouter)[]): this {
    const [first] = args;
    const path =
      typeof first === 'string'
        ? readScopePath(first, `Cannot use middleware at "${first}"`)
        : undefined;
    const layers = (path === undefined ? args : args.slice(1)) as (Middleware | TreeRouter)[];
    requireMiddleware(
      layers.filter((layer) => !(layer instanceof TreeRouter)),
      'Cannot use',
    );
    const present = this.#layers.length;
    try {
      for (const layer of layers) {
        if (layer instanceof TreeRouter) this.mount(path ?? '/', layer);
        else this.#layers.push({ path, run: layer });
      }
      this.#forgetChains();
    } catch (error) {
      this.#layers.length = present;
      throw error;
    }
    return this;
  }

  within<const Path extends string>(prefix: Path): Router<`${string}${Path}`> {
    const group = this.#wrap();
    this.#mount(prefix, group, true);
    return group as Router<string> as Router<`${string}${Path}`>;
  }

  mount(path: string, router: AnyRouter): this {
    return this.#mount(path, router, false);
  }

  #mount(path: string, router: AnyRouter, once: boolean): this {
    const action = `Cannot mount a router at "${path}"`;
    if (!(router instanceof TreeRouter)) throw new TypeError(`${action}: expected a router`);
    if (router.#contains(this)) throw new TypeError(`${action}: it would contain itself`);
    if (router.#caseSensitive !== this.#caseSensitive || router.#strict !== this.#strict) {
      throw new TypeError(`${action}: both must have the same options caseSensitive and strict`);
    }
    const pattern = joinPaths(path === '' ? '' : readPattern(path, action), '/');
    const place = joinPaths(
      this.#prefix,
      once ? this.#leaveOut(pattern, pattern, this.#prefix) : pattern,
    );
    this.#ask({ path: place, router, once });
    router.#parents.push({ path: place, router: this, once });
    return this;
  }

  redirect(from: string, to: string, status = 301): this {
    const handler = redirectTo(from, to, status);
    return keepsMethod(status)
      ? this.all(from, handler).query(from, handler)
      : this.get(from, handler);
  }

  routes(prefix = ''): Middleware {
    if (prefix !== '') return this.#wrap().mount(prefix, this).routes();
    for (const route of this.#routes) requirePathParams(route, this.#caseSensitive);
    this.#isServed = true;
    return (ctx, next) => {
      const match = this.match(ctx.method, ctx.path);
      if (match === undefined) {
        if (!ctx.route && !ctx.responded) ctx.status = unmatchedStatus(ctx.method);
        return next();
      }
      const route = match.route;
      setRoute(ctx, route, match.params);
      route.chain ??= composeRoute(route, this.#caseSensitive);
      return route.chain(ctx, next);
    };
  }

  allowedMethods(options?: AllowedMethodsOptions): Middleware {
    const known = {
      isUsed: (method: string) => this.#roots().some((root) => root.#byMethod.has(method)),
      methodsOf: (path: string) => [
        ...new Set(this.#roots().flatMap((root) => root.#methodsOf(path))),
      ],
    };
    return answerMethods(known, options);
  }

  reset(): this {
    for (const item of this.#asked) {
      if ('router' in item) item.router.#leave(this);
    }
    this.#asked = [];
    this.#layers = [];
    this.#rebuild();
    return this;
  }

  getRoutes(): readonly RouteDefinition[] {
    return this.#roots().flatMap((root) =>
      root.#routes
        .filter((route) => this.#owns(route))
        .map((route) => describe(route, this.#caseSensitive)),
    );
  }

  match(
    method: string,
    path: string,
  ): { route: Route; params: Record<string, string> } | undefined {
    const open = this.#byMethod.get(method);
    if (open === undefined) return undefined;
    const leaf = this.#tree.find(path, open);
    if (leaf < 0) return undefined;
    const index = open[leaf] as number;
    const route = this.#routes[index] as Route;
    const names = this.#names[index] as readonly string[];
    return { route, params: this.#tree.capture(path, names) };
  }

  print(): string {
    return drawRoutes(this.getRoutes());
  }

  /** A router of the same options that this one can be mounted on. */
  #wrap(): TreeRouter {
    return new TreeRouter({ caseSensitive: this.#caseSensitive, strict: this.#strict });
  }

  #scope(): Scope {
    return { base: this.#prefix, layers: this.#layers };
  }

  #owns(route: Route): boolean {
    return route.scopes.some((scope) => scope.layers === this.#layers);
  }

  #contains(router: TreeRouter): boolean {
    return (
      this === router ||
      this.#asked.some((item) => 'router' in item && item.router.#contains(router))
    );
  }

  /** The routers whose trees requests are matched with: those served, or contained by no other one. */
  #roots(): TreeRouter[] {
    if (this.#parents.length === 0) return [this];
    const above = this.#parents.flatMap(({ router }) => router.#roots());
    return [...new Set(this.#isServed ? [this, ...above] : above)];
  }

  #leave(parent: TreeRouter): void {
    this.#parents = this.#parents.filter(({ router }) => router !== parent);
  }

  #ask(item: Registration | Mount): void {
    try {
      for (const registration of this.#registrationsOf(item)) this.#insert(registration);
    } catch (error) {
      this.#rebuild(); // without the item: what cannot be registered leaves nothing behind
      throw error;
    }
    this.#asked.push(item);
  }

  #registrationsOf(item: Registration | Mount): readonly Registration[] {
    return 'router' in item ? item.router.#routes.map((route) => this.#lift(route, item)) : [item];
  }

  /** A route of a mounted router as a route of this one. */
  #lift(route: Registration, { path: place, once }: Omit<Mount, 'router'>): Registration {
    const { method, handlers } = route;
    const below = (path: string) => joinPaths(place, this.#leaveOut(route.once, path, place));
    return {
      method,
      path: readRoutePattern(method, below(route.path)),
      scopes: [
        this.#scope(),
        ...route.scopes.map((scope) => ({ ...scope, base: below(scope.base) })),
      ],
      handlers,
      once: place === '/' ? route.once : once ? place : undefined,
    };
  }

  /** `path` without `start`, if `place` ends in that. */
  #leaveOut(start: string | undefined, path: string, place: string): string {
    if (start === undefined || !path.startsWith(start)) return path;
    const [end, whole] = this.#caseSensitive
      ? [start, place]
      : [start.toLowerCase(), place.toLowerCase()];
    return whole.endsWith(end) ? path.slice(start.length) || '/' : path;
  }

  /** Adds a route to this router and to all that contain it. */
  #insert(registration: Registration): void {
    const route = this.#place(registration);
    if (this.#isServed) requirePathParams(route, this.#caseSensitive);
    for (const parent of this.#parents) parent.router.#insert(parent.router.#lift(route, parent));
  }

  #place(registration: Registration): Route {
    const { method, path } = registration;
    const leaf = this.#tree.add(path);
    const open = this.#openFor(method, leaf);
    const present = this.#routes[open[leaf] as number];
    if (present?.method === method) {
      throw new Error(`Route conflict: ${method} ${present.path} is already registered`);
    }
    const route = { ...registration, chain: undefined };
    const index = this.#routes.push(route) - 1;
    this.#names.push(this.#shareNames(namesIn(path)));
    open[leaf] = index;
    if (method === 'GET') {
      const head = this.#openFor('HEAD', leaf);
      if ((head[leaf] as number) < 0) head[leaf] = index;
    }
    return route;
  }

  #shareNames(names: readonly string[]): readonly string[] {
    const key = names.join('/');
    const shared = this.#nameLists.get(key) ?? names;
    this.#nameLists.set(key, shared);
    return shared;
  }

  /** Where `method` may end, with room for `leaf`. */
  #openFor(method: string, leaf: number): Int32Array {
    const present = this.#byMethod.get(method) ?? new Int32Array(0);
    if (leaf < present.length) return present;
    const grown = new Int32Array(2 * leaf + 8).fill(-1);
    grown.set(present);
    this.#byMethod.set(method, grown);
    return grown;
  }

  /**
   * The methods of the most specific pattern for `path`. Less specific patterns, to which a request
   * with another method falls back, do not count: in OpenAPI, `/users/me` and `/users/{id}` are
   * different paths.
   */
  #methodsOf(path: string): string[] {
    if (this.#everyLeaf.length !== this.#tree.size) {
      this.#everyLeaf = new Int32Array(this.#tree.size);
    }
    const leaf = this.#tree.find(path, this.#everyLeaf);
    if (leaf < 0) return [];
    const found: { method: string; index: number }[] = [];
    for (const [method, open] of this.#byMethod) {
      const index = open[leaf] ?? -1;
      if (index >= 0) found.push({ method, index });
    }
    const methods = found.sort((a, b) => a.index - b.index).map(({ method }) => method);
    return methods.includes('GET')
      ? methods
          .filter((method) => method !== 'HEAD')
          .flatMap((m) => (m === 'GET' ? ['GET', 'HEAD'] : [m]))
      : methods;
  }

  #rebuild(): void {
    this.#tree = new Tree({ caseSensitive: this.#caseSensitive, strict: this.#strict });
    this.#routes = [];
    this.#names = [];
    this.#byMethod.clear();
    for (const item of this.#asked) {
      for (const registration of this.#registrationsOf(item)) this.#place(registration);
    }
    for (const { router } of this.#parents) router.#rebuild();
  }

  /** Applies changed layers to the routes, also to those of all routers that contain this one. */
  #forgetChains(): void {
    for (const route of this.#routes) {
      route.chain = undefined;
      if (this.#isServed) requirePathParams(route, this.#caseSensitive);
    }
    for (const { router } of this.#parents) router.#forgetChains();
  }
}

/** Everything that runs for `route`, outermost first. */
function composeRoute({ scopes, handlers }: Route, caseSensitive: boolean): Chain {
  const layers = scopes.flatMap(({ base, layers }) =>
    layers.map(({ path, run }) =>
      path === undefined ? run : below(joinPaths(base, path), run, caseSensitive),
    ),
  );
  const handler = handlers.at(-1) as Middleware;
  return compose([
    ...layers,
    ...handlers.slice(0, -1),
    (ctx, next) => sendReturned(ctx, handler(ctx, next)),
  ]);
}

/** Reads the path of a middleware: a prefix, which a wildcard would keep from ever being met. */
function readScopePath(path: string, action: string): string {
  const pattern = readPattern(path, action);
  if (pattern.includes('*')) {
    throw new TypeError(`${action}: expected a path without "*", it takes all below it anyway`);
  }
  return pattern;
}

function below(path: string, run: Middleware, caseSensitive: boolean): Middleware {
  const isBelow = createPrefixTest(path, caseSensitive);
  return (ctx, next) => (isBelow(ctx.path) ? run(ctx, next) : next());
}

function describe(route: Route, caseSensitive: boolean): RouteDefinition {
  const { method, path } = route;
  return { method, path, metadata: metadataOfEach(route, caseSensitive).reduce(merge, {}) };
}

/** The metadata of everything that runs for each request to a route, outermost first. */
function metadataOfEach(
  { path, scopes, handlers }: Route,
  caseSensitive: boolean,
): readonly RouteMetadata[] {
  const isAbove = (base: string, layer: Layer) =>
    layer.path === undefined || createPrefixTest(joinPaths(base, layer.path), caseSensitive)(path);
  const layers = scopes.flatMap(({ base, layers }) => layers.filter((l) => isAbove(base, l)));
  return [...layers.map(({ run }) => run), ...handlers].map((run) => metadataOf(run) ?? {});
}

/**
 * Refuses a route whose middleware needs a parameter that its path does not have: every request to it
 * would fail. What runs after a validator of the parameters is not checked, because that can make any.
 */
function requirePathParams(route: Route, caseSensitive: boolean): void {
  const names = namesIn(route.path);
  for (const { missingPathParam, validation } of metadataOfEach(route, caseSensitive)) {
    const missing = missingPathParam?.(names);
    if (missing !== undefined) {
      throw new TypeError(
        `Cannot register ${route.method} ${route.path}: "${missing}" must be a parameter of the path`,
      );
    }
    if (isObject(validation) && Reflect.get(validation, 'params') !== undefined) return;
  }
}

/** Objects of these keys are merged, entry by entry, and lists joined; of any other key the last value counts. */
const MERGED = ['validation', 'responses', 'rateLimit'];

function merge(before: RouteMetadata, after: RouteMetadata): RouteMetadata {
  const merged: Record<string, unknown> = { ...before, ...after };
  for (const key of MERGED) {
    const [present, value] = [before[key], after[key]];
    if (Array.isArray(present) && Array.isArray(value)) merged[key] = [...present, ...value];
    else if (isObject(present) && isObject(value)) merged[key] = { ...present, ...value };
  }
  return merged;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
