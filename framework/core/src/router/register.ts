import type { Middleware } from '../context.ts';

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
