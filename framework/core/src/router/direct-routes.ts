import type { Middleware } from '../context.ts';

import type { AllowedMethodsOptions } from './allowed-methods.ts';
import { TreeRouter } from './create-router.ts';
import type { AnyHandler } from './route-methods.ts';
import type { RouteDefinition } from './router.ts';

/** A route before it is registered. */
interface NewRoute {
  readonly method: string;
  readonly path: string;
  readonly handlers: readonly AnyHandler[];
}

/**
 * The routes of an application. Consecutive routes form a group, whose middleware runs at their
 * position. One router contains the groups, so that the most specific route of all groups wins and
 * the same route in two groups is a conflict.
 */
export class DirectRoutes {
  readonly #all = new TreeRouter({});
  /** The router of each group, by its middleware. */
  readonly #groups = new WeakMap<object, TreeRouter>();

  /**
   * Registers a route in the group of the middleware `last`. If that is not a group, returns the
   * middleware of a new one.
   *
   * @throws {TypeError} if the route is invalid
   * @throws {Error} if the method and path are already registered
   */
  register(last: object | undefined, { method, path, handlers }: NewRoute): Middleware | undefined {
    const present = last && this.#groups.get(last);
    if (present) {
      present.route(method, path, ...handlers);
      return undefined;
    }
    const group = new TreeRouter({});
    this.#all.mount('/', group);
    const middleware = this.#all.routesOf(group);
    group.route(method, path, ...handlers);
    this.#groups.set(middleware, group);
    return middleware;
  }

  /** All routes, in order of registration. */
  getRoutes(): readonly RouteDefinition[] {
    return this.#all.getRoutes();
  }

  /** The middleware that responds to other methods of the registered paths. */
  allowedMethods(options?: AllowedMethodsOptions): Middleware {
    return this.#all.allowedMethods(options);
  }
}
