import { namesIn } from './pattern.ts';
import type { Registration, Route } from './route.ts';
import { Tree, type TreeOptions } from './tree.ts';

/** A route and its parameters for one path. */
export interface TableMatch {
  readonly route: Route;
  readonly params: Record<string, string>;
}

/** The routes of one router and of all routers mounted on it, with their full paths. */
export class RouteTable {
  /** In order of registration. */
  readonly routes: Route[] = [];
  readonly #tree: Tree;
  /** By method, then by pattern of the tree. */
  readonly #routesOf = new Map<string, (Route | undefined)[]>();
  /** By pattern of the tree: its methods in order of registration. */
  readonly #methodsOf: string[][] = [];
  /** Lists of parameter names. Routes share equal lists, so that these stay in the processor's cache. */
  readonly #nameLists = new Map<string, readonly string[]>();

  constructor(options: TreeOptions) {
    this.#tree = new Tree(options);
  }

  /** @throws {Error} if the method and path are already registered */
  add(registration: Registration): Route {
    const { method, path } = registration;
    const pattern = this.#tree.add(path);
    const present = this.#routesOf.get(method)?.[pattern];
    if (present?.method === method) {
      throw new Error(`Route conflict: ${method} ${present.path} is already registered`);
    }
    const route = { ...registration, names: this.#namesIn(path), chain: undefined };
    this.routes.push(route);
    this.#set(method, pattern, route);
    if (method === 'GET' && !this.#routesOf.get('HEAD')?.[pattern]) {
      this.#set('HEAD', pattern, route);
    }
    this.#methodsOf[pattern] = [...(this.#methodsOf[pattern] ?? []), method];
    return route;
  }

  /** Whether any route has this method; every GET route also has HEAD. */
  hasMethod(method: string): boolean {
    return this.#routesOf.has(method);
  }

  /** Finds the route for a method and a path in normal form. */
  find(method: string, path: string): TableMatch | undefined {
    const routes = this.#routesOf.get(method);
    const match = routes && this.#tree.find(path, routes);
    if (!match) return undefined;
    const route = match.value;
    return { route, params: toParams(route.names, match.captured) };
  }

  /**
   * The methods of the most specific pattern for a path in normal form, HEAD after GET. Less specific
   * patterns, which requests with other methods fall back to, do not count: in OpenAPI, `/users/me`
   * and `/users/{id}` are different paths.
   */
  methodsOf(path: string): readonly string[] {
    const methods = this.#tree.find(path, this.#methodsOf)?.value ?? [];
    if (!methods.includes('GET')) return methods;
    return methods
      .filter((method) => method !== 'HEAD')
      .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  }

  #set(method: string, pattern: number, route: Route): void {
    const routes = this.#routesOf.get(method) ?? [];
    while (routes.length < pattern) routes.push(undefined); // an array with holes would be slow
    routes[pattern] = route;
    this.#routesOf.set(method, routes);
  }

  #namesIn(path: string): readonly string[] {
    const names = namesIn(path);
    const key = names.join('/');
    const shared = this.#nameLists.get(key) ?? names;
    this.#nameLists.set(key, shared);
    return shared;
  }
}

/** An object without inherited properties which, unlike `Object.create(null)`, V8 does not make a dictionary. */
class Params {
  [name: string]: string;
}
Object.setPrototypeOf(Params.prototype, null);
Reflect.deleteProperty(Params.prototype, 'constructor');

function toParams(names: readonly string[], captured: readonly string[]): Record<string, string> {
  const params = new Params();
  for (let index = 0; index < names.length; index++) {
    params[names[index] as string] = captured[index] as string;
  }
  return params;
}
