import type { Context, Middleware } from '../context.ts';
import type { Logger } from '../logger.ts';
import { annotate, markFactories, requireMiddleware } from '../middleware.ts';
import { aBoolean, aListOf, aString, readOptions } from '../options.ts';
import { foldCase, normalizePath, readPattern } from '../request/path.ts';
import { MethodNotAllowedError } from '../response/http-error.ts';
import { unmatchedStatus } from '../response/status.ts';
import { joinPaths, readRoutePattern } from './pattern.ts';
import { keepsMethod, redirectTo } from './redirect.ts';
import {
  type Layer,
  metadataOfRoute,
  type Registration,
  type Route,
  requireServable,
  runRoutes,
  type Scope,
} from './route.ts';
import { RouteTable } from './route-table.ts';
import type {
  AllowedMethodsOptions,
  AnyRouter,
  RouteDefinition,
  RouteMatch,
  Router,
  RouterOptions,
} from './types.ts';

/** A function of a route; `Register` has checked which parts of a request it reads. */
export type AnyHandler = Middleware<never>;

const ALL_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'];

/** The functions of `RouteMethods`, which all call `addRoutes`. */
export abstract class RouteRegistrar {
  /**
   * Registers a route for each method, or none if one of them fails. All functions but the last are
   * middleware, the last is the handler.
   */
  abstract addRoutes(
    methods: readonly string[],
    path: string,
    handlers: readonly AnyHandler[],
  ): this;

  get(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoutes(['GET'], path, handlers);
  }

  post(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoutes(['POST'], path, handlers);
  }

  put(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoutes(['PUT'], path, handlers);
  }

  patch(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoutes(['PATCH'], path, handlers);
  }

  delete(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoutes(['DELETE'], path, handlers);
  }

  head(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoutes(['HEAD'], path, handlers);
  }

  options(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoutes(['OPTIONS'], path, handlers);
  }

  query(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoutes(['QUERY'], path, handlers);
  }

  all(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoutes(ALL_METHODS, path, handlers);
  }
}

interface Mount {
  readonly path: string;
  readonly router: TreeRouter;
}

/**
 * The router that `createRouter` creates. Each router has a table of its own routes and of the routes of
 * every router mounted on it, so that a request takes one lookup.
 */
export class TreeRouter extends RouteRegistrar implements Router<string> {
  readonly #prefix: string;
  readonly #caseSensitive: boolean;
  readonly #strict: boolean;
  /** What was registered here, in order; the table can be built from it again. */
  #entries: (Registration | Mount)[] = [];
  #layers: Layer[] = [];
  /** The routers that this one is mounted on, and where. */
  #parents: Mount[] = [];
  #table: RouteTable;
  /** Whether the application runs this router directly, not only by the routers that it is mounted on. */
  #isServed = false;

  constructor(options: RouterOptions) {
    super();
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
      prefix === '' ? '' : joinPaths(readPattern(prefix, `Cannot use prefix "${prefix}"`), '');
    this.#caseSensitive = caseSensitive;
    this.#strict = strict;
    this.#table = new RouteTable({ caseSensitive, strict });
  }

  route(method: string, path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoutes([method], path, handlers);
  }

  addRoutes(methods: readonly string[], path: string, handlers: readonly AnyHandler[]): this {
    return this.#undoIfItFails(() => {
      for (const method of methods) this.#addRoute(method, path, handlers);
    });
  }

  #addRoute(method: string, path: string, handlers: readonly AnyHandler[]): void {
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
    this.#register({
      method: name,
      path: pattern,
      scopes: [this.#scope()],
      handlers: handlers as readonly Middleware[],
    });
  }

  group(prefix: string, ...rest: readonly unknown[]): this {
    const layers = rest.slice(0, -1).flat();
    const callback = rest.at(-1);
    if (typeof callback !== 'function') {
      throw new TypeError(`Cannot group routes at "${prefix}": expected a callback`);
    }
    const group = this.#createSibling();
    group.use(...(layers as Middleware[]));
    return this.#undoIfItFails(() => {
      this.mount(prefix, group);
      callback(group);
    });
  }

  use(...args: readonly (string | Middleware | AnyRouter)[]): this {
    const [first] = args;
    const path =
      typeof first === 'string'
        ? readLayerPath(first, `Cannot use middleware at "${first}"`)
        : undefined;
    const layers = (path === undefined ? args : args.slice(1)) as (Middleware | TreeRouter)[];
    requireMiddleware(
      layers.filter((layer) => !(layer instanceof TreeRouter)),
      'Cannot use',
    );
    return this.#undoIfItFails(() => {
      for (const layer of layers) {
        if (layer instanceof TreeRouter) this.mount(path ?? '/', layer);
        else this.#layers.push({ path, run: layer });
      }
      this.#updateChains();
    });
  }

  mount(path: string, router: AnyRouter): this {
    const action = `Cannot mount a router at "${path}"`;
    if (!(router instanceof TreeRouter)) throw new TypeError(`${action}: expected a router`);
    if (router.#withMounted().includes(this))
      throw new TypeError(`${action}: it would contain itself`);
    if (router.#caseSensitive !== this.#caseSensitive || router.#strict !== this.#strict) {
      throw new TypeError(`${action}: both must have the same options caseSensitive and strict`);
    }
    const pattern = joinPaths(path === '' ? '' : readPattern(path, action), '/');
    const mountPath = joinPaths(this.#prefix, pattern);
    return this.#undoIfItFails(() => {
      this.#register({ path: mountPath, router });
      router.#parents.push({ path: mountPath, router: this });
    });
  }

  redirect(from: string, to: string, status = 301): this {
    const handler = redirectTo(from, to, status);
    return keepsMethod(status)
      ? this.all(from, handler).query(from, handler)
      : this.get(from, handler);
  }

  routes(prefix = ''): Middleware {
    if (prefix !== '') return this.#createSibling().mount(prefix, this).routes();
    let isChecked = false;
    return annotate(this.routesOf(this), {
      onReady: (log: Logger) => {
        if (!isChecked) this.#warnOfRepeatedPrefixes(log);
        isChecked = true;
      },
    });
  }

  /** Returns the middleware that runs the routes of `part`, this router or one that is mounted on it. */
  routesOf(part: TreeRouter): Middleware {
    for (const route of this.#table.routes) requireServable(route);
    this.#isServed = true;
    return runRoutes(
      (method, path) => this.#table.find(method, path),
      (route) => part === this || part.#owns(route),
    );
  }

  allowedMethods(options?: AllowedMethodsOptions): Middleware {
    const respond = createAllowedMethods(() => this.#roots().map((root) => root.#table), options);
    return annotate(respond, { onReady: () => this.#requireServed() });
  }

  /** Requires that the routes are served: `Allow` names their methods, which would still get 405. */
  #requireServed(): void {
    const [path] = this.unservedPaths();
    if (path === undefined) return;
    throw new TypeError(
      `Cannot use allowedMethods() of a router that is not mounted, with the path ${path}: expected app.route(prefix, router)`,
    );
  }

  reset(): this {
    for (const entry of this.#entries) {
      if ('router' in entry) entry.router.#removeParent(this, entry.path);
    }
    this.#entries = [];
    this.#layers = [];
    this.#rebuild();
    return this;
  }

  getRoutes(): readonly RouteDefinition[] {
    return this.#roots().flatMap((root) =>
      root.#table.routes
        .filter((route) => this.#owns(route))
        .map((route) => ({
          method: route.method,
          path: route.path,
          metadata: metadataOfRoute(route),
        })),
    );
  }

  unservedPaths(): readonly string[] {
    const roots = new Set(this.#withMounted().flatMap((router) => router.#roots()));
    const served = [...roots].filter((root) => root.#isServed);
    const paths = new Set(served.flatMap((root) => root.#table.routes.map(({ path }) => path)));
    return this.getRoutes().flatMap(({ path }) => (paths.has(path) ? [] : [path]));
  }

  match(method: string, path: string): RouteMatch | undefined {
    const normal = normalizePath(path);
    return normal === undefined ? undefined : this.#table.find(method, normal);
  }

  /** A new router that can be mounted on this one, and this one on it. */
  #createSibling(): TreeRouter {
    return new TreeRouter({ caseSensitive: this.#caseSensitive, strict: this.#strict });
  }

  #scope(): Scope {
    return { base: this.#prefix, layers: this.#layers, caseSensitive: this.#caseSensitive };
  }

  /** Whether `route` was registered on this router or on one mounted on it. */
  #owns(route: Route): boolean {
    return route.scopes.some((scope) => scope.layers === this.#layers);
  }

  /** This router and the routers mounted on it. */
  #withMounted(): readonly TreeRouter[] {
    const mounted = this.#entries.flatMap((entry) => ('router' in entry ? [entry.router] : []));
    return [this, ...mounted.flatMap((router) => router.#withMounted())];
  }

  /**
   * The routers in whose tables requests find the routes of this one: this router and those that it is
   * mounted on, directly or not, each if it is served or has no parent.
   */
  #roots(): readonly TreeRouter[] {
    if (this.#parents.length === 0) return [this];
    const roots = this.#parents.flatMap(({ router }) => router.#roots());
    return [...new Set(this.#isServed ? [this, ...roots] : roots)];
  }

  #removeParent(parent: TreeRouter, at: string): void {
    this.#parents = this.#parents.filter(({ router, path }) => router !== parent || path !== at);
  }

  /** Calls `register`. If it throws, removes everything that it has registered here. */
  #undoIfItFails(register: () => void): this {
    const [entries, layers] = [this.#entries.length, this.#layers.length];
    try {
      register();
      return this;
    } catch (error) {
      for (const entry of this.#entries.splice(entries)) {
        if ('router' in entry) entry.router.#removeParent(this, entry.path);
      }
      this.#layers.length = layers;
      this.#rebuild();
      throw error;
    }
  }

  #register(entry: Registration | Mount): void {
    for (const registration of this.#expand(entry)) this.#insert(registration);
    this.#entries.push(entry);
  }

  /** The registrations of an entry: itself, or every route of the mounted router. */
  #expand(entry: Registration | Mount): readonly Registration[] {
    return 'router' in entry
      ? entry.router.#table.routes.map((route) => this.#mountedRoute(route, entry.path))
      : [entry];
  }

  /** `route` of a router that is mounted at `mountPath` as a route of this router. */
  #mountedRoute({ method, path, scopes, handlers }: Registration, mountPath: string): Registration {
    const below = scopes.map((scope) => ({ ...scope, base: joinPaths(mountPath, scope.base) }));
    return {
      method,
      path: readRoutePattern(method, joinPaths(mountPath, path)),
      scopes: [this.#scope(), ...below],
      handlers,
    };
  }

  /** Logs each router under `base` that is mounted at a path which ends in its own prefix. */
  #warnOfRepeatedPrefixes(log: Logger, base = ''): void {
    const fold = this.#caseSensitive ? (text: string) => text : foldCase;
    for (const entry of this.#entries) {
      if (!('router' in entry)) continue;
      const { router } = entry;
      const path = joinPaths(base, entry.path);
      if (router.#prefix !== '' && fold(path).endsWith(fold(router.#prefix))) {
        log.warn(
          `A router with the prefix "${router.#prefix}" is mounted at "${path}": it serves ${path}${router.#prefix}; remove one of the two`,
        );
      }
      router.#warnOfRepeatedPrefixes(log, path);
    }
  }

  /** Adds a route to this router's table and to those of all parents. */
  #insert(registration: Registration): void {
    const route = this.#table.add(registration);
    if (this.#isServed) requireServable(route);
    for (const parent of this.#parents) {
      parent.router.#insert(parent.router.#mountedRoute(route, parent.path));
    }
  }

  #rebuild(): void {
    this.#table = new RouteTable({ caseSensitive: this.#caseSensitive, strict: this.#strict });
    for (const entry of this.#entries) {
      for (const registration of this.#expand(entry)) this.#table.add(registration);
    }
    for (const { router } of this.#parents) router.#rebuild();
  }

  /** Applies changed layers to the routes of this router and of all parents. */
  #updateChains(): void {
    for (const route of this.#table.routes) {
      route.chain = undefined;
      if (this.#isServed) requireServable(route);
    }
    for (const { router } of this.#parents) router.#updateChains();
  }
}

/** Reads the path of a middleware. It is a prefix, so a wildcard in it would never match. */
function readLayerPath(path: string, action: string): string {
  const pattern = readPattern(path, action);
  if (pattern.includes('*')) {
    throw new TypeError(
      `${action}: expected a path without "*", because middleware runs for all paths under it`,
    );
  }
  return pattern;
}

/**
 * Responds to requests for a path in `tables` with an unregistered method: `OPTIONS` with 200, any other
 * with 405, both with `Allow` (RFC 9110 §10.2.1). A method that neither the framework nor a route
 * knows passes, because its response is 501.
 */
function createAllowedMethods(
  tables: () => readonly RouteTable[],
  options: AllowedMethodsOptions = {},
): Middleware {
  const { patchTypes } = readOptions('allowedMethods()', options, {
    patchTypes: aListOf('a list of media types', aString),
  });
  const acceptPatch = patchTypes?.join(', ');
  return (ctx, next) => {
    if (ctx.route || ctx.responded) return next();
    const { method, path } = ctx;
    const isKnown = () => tables().some((table) => table.hasMethod(method));
    if (unmatchedStatus(method) === 501 && !isKnown()) return next();
    const methods = [...new Set(tables().flatMap((table) => table.methodsOf(path)))];
    return methods.length === 0 ? next() : respond(ctx, methods, acceptPatch);
  };
}

function respond(ctx: Context, methods: readonly string[], acceptPatch: string | undefined): void {
  if (ctx.method !== 'OPTIONS') {
    throw new MethodNotAllowedError(methods, `This path does not take ${ctx.method}`);
  }
  ctx.set('Allow', methods.join(', '));
  if (acceptPatch && methods.includes('PATCH')) ctx.set('Accept-Patch', acceptPatch);
  ctx.status = 200;
  ctx.send('');
}

/**
 * Creates a router.
 *
 * ```ts
 * const router = createRouter().get('/users/:id', (ctx) => ctx.json({ id: ctx.params.id }));
 * app.route('/api', router);
 * ```
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function createRouter<const Prefix extends string = ''>(
  options: RouterOptions & { readonly prefix?: Prefix } = {},
): Router<Prefix> {
  return new TreeRouter(options) as Router<string> as Router<Prefix>;
}

markFactories({ createRouter });
