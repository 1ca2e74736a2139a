import type { Middleware } from '../context.ts';

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
