import type { Middleware, Parts } from '../context.ts';

import type { Register } from './register.ts';

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

/** A function of a route; `Register` has checked which parts of a request it reads. */
export type AnyHandler = Middleware<never>;

const ALL_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'];

/** The functions of `RouteMethods`, which all call `addRoute`. */
export abstract class RouteRegistrar {
  /** Registers one route. All functions but the last are middleware, the last is the handler. */
  protected abstract addRoute(method: string, path: string, handlers: readonly AnyHandler[]): this;

  get(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoute('GET', path, handlers);
  }

  post(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoute('POST', path, handlers);
  }

  put(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoute('PUT', path, handlers);
  }

  patch(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoute('PATCH', path, handlers);
  }

  delete(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoute('DELETE', path, handlers);
  }

  head(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoute('HEAD', path, handlers);
  }

  options(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoute('OPTIONS', path, handlers);
  }

  query(path: string, ...handlers: readonly AnyHandler[]): this {
    return this.addRoute('QUERY', path, handlers);
  }

  all(path: string, ...handlers: readonly AnyHandler[]): this {
    for (const method of ALL_METHODS) this.addRoute(method, path, handlers);
    return this;
  }
}
