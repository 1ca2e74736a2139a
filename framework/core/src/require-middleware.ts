const FACTORY = Symbol.for('fw.factory');

/**
 * Marks functions that return middleware, by their names: `markFactories({ json })`. Used in place of
 * what they return, they are rejected where they are registered.
 */
export function markFactories(factories: Readonly<Record<string, object>>): void {
  for (const [name, factory] of Object.entries(factories)) {
    Object.defineProperty(factory, FACTORY, { value: name });
  }
}

/** @throws {TypeError} that starts with `action`, if one of `values` cannot run as middleware */
export function requireMiddleware(values: readonly unknown[], action: string): void {
  for (const value of values) {
    const factory = typeof value === 'function' ? factoryName(value) : undefined;
    if (factory !== undefined) {
      throw new TypeError(`${action} ${factory}: call it, as in ${factory}()`);
    }
    if (typeof value === 'function') continue;
    if (isRouter(value)) {
      throw new TypeError(`${action} a router: use app.route(prefix, router) or router.routes()`);
    }
    throw new TypeError(`${action} "${String(value)}": expected a middleware function`);
  }
}

function factoryName(value: object): string | undefined {
  return (value as { readonly [FACTORY]?: string })[FACTORY];
}

function isRouter(value: unknown): boolean {
  return typeof (value as { routes?: unknown } | null | undefined)?.routes === 'function';
}
