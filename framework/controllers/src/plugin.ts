import {
  annotate,
  type Context,
  type Middleware,
  markFactories,
  markPlugin,
  type Plugin,
  type RouteDefinition,
  type Router,
} from '@fw/core';
import { describeRoute, metadataOf, readPattern } from '@fw/core/extension';
import { anObjectWith, aString, badOption, check, readOptions, required } from '@fw/core/options';
import { type RequestSchemas, type StandardSchema, validate } from '@fw/validation';

import { Container, type Provided, type Type } from './container.ts';
import {
  type Action,
  actionsOf,
  controllerOf,
  isController,
  type Source,
  sourcesOf,
} from './decorators.ts';
import { loadModules } from './load-modules.ts';
import { recordSchema } from './record-schema.ts';

export interface ControllersOptions {
  /** The router that receives the routes. */
  readonly router: Pick<Router, 'group'>;
  /** The folder whose modules are searched for controllers, as a path or a `file:` URL. */
  readonly root?: string | URL;
  /** The prefix of `app.route()`, which is checked at start. Default: any. */
  readonly prefix?: string;
  /** The controllers, instead of `root`. */
  readonly controllers?: readonly Type[];
  /** Objects for classes that the plugin does not create: stores, clients, configuration. */
  readonly provide?: readonly Provided[];
}

/**
 * Creates controllers and their dependencies before the server starts, and registers their methods as
 * routes.
 *
 * ```ts
 * const router = createRouter();
 * app.plugin(controllersPlugin({ router, root: import.meta.dirname, prefix: '/api' }));
 * app.route('/api', router);
 * ```
 *
 * @throws {TypeError} if an option is unknown or invalid
 */
export function controllersPlugin(options: ControllersOptions): Plugin {
  const { router, root, controllers, provide, prefix } = readControllersOptions(options);
  return markPlugin(async (app) => {
    const types = controllers ?? (await findControllers(String(root)));
    const container = new Container(provide);
    router.group('/', (group) => {
      const paths = types.flatMap((type) => register(type, container, group));
      if (prefix === undefined) return;
      app.use(describeRoute({ onReady: () => requirePrefix(prefix, group.getRoutes(), paths) }));
    });
  });
}

/** @throws {TypeError} with both prefixes, if routes that were registered as `paths` have another one */
function requirePrefix(prefix: string, routes: readonly RouteDefinition[], paths: string[]): void {
  const expected = segmentsOf(readPattern(prefix, `Cannot use prefix "${prefix}"`));
  for (const [index, { path }] of routes.entries()) {
    // A router that is mounted several times has its routes several times, in the same order.
    const own = segmentsOf(paths[index % paths.length] ?? '/');
    const full = segmentsOf(path);
    const actual = full.slice(0, full.length - own.length);
    if (actual.join('/') === expected.join('/')) continue;
    throw new TypeError(
      `Cannot serve controllers at "/${actual.join('/')}": their prefix is "${prefix}", expected app.route("${prefix}", router)`,
    );
  }
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function readControllersOptions(options: ControllersOptions): ControllersOptions {
  const owner = 'controllersPlugin()';
  const { root, controllers } = readOptions<ControllersOptions>(owner, options, {
    router: required(anObjectWith('a router', ['group'])),
    root: check('a folder', (value) => typeof value === 'string' || value instanceof URL),
    prefix: aString,
    controllers: check(
      'a list of classes marked with @Controller',
      (value) => Array.isArray(value) && value.every(isController),
    ),
    provide: check(
      'a list of pairs of a class and its instance',
      (value) => Array.isArray(value) && value.every(isProvided),
    ),
  });
  if ((root === undefined) === (controllers === undefined)) {
    const expected = 'a folder, or controllers in its place';
    throw badOption(owner, { name: 'root', value: root, expected });
  }
  return options;
}

function isProvided(entry: unknown): boolean {
  return Array.isArray(entry) && typeof entry[0] === 'function';
}

async function findControllers(root: string): Promise<readonly Type[]> {
  const modules = await loadModules(root);
  const types = new Set(modules.flatMap((module) => Object.values(module)).filter(isController));
  if (types.size === 0) {
    throw new Error(
      `Cannot find a controller in root "${root}": expected exported classes marked with @Controller`,
    );
  }
  return [...types];
}

/** Registers the methods of a controller; returns their paths in this order. */
function register(type: Type, container: Container, group: Router<string>): string[] {
  const { path: base, middleware } = controllerOf(type) ?? { path: '/', middleware: [] };
  const instance = container.resolve(type);
  const isOfRequest = container.isOfRequest(type);
  return actionsOf(type).map((action) => {
    const path = joinPaths(base, action.path);
    const find = isOfRequest ? () => container.resolve(type) : () => instance;
    group.route(
      action.method,
      path,
      ...middleware,
      ...action.middleware,
      ...needParams(type, action, [...validationOf(type, action), handle(type, action, find)]),
    );
    return path;
  });
}

/** The middleware that validates the parameters of a method. */
function validationOf(type: Type, { name }: Action): Middleware[] {
  const found = [...sourcesOf(type, name).values()];
  const params = new Map<string, StandardSchema>();
  const schemas: { -readonly [Part in keyof RequestSchemas]: RequestSchemas[Part] } = {};
  for (const source of found) {
    if (!source.schema) continue;
    const isParam = source.from === 'params';
    const present = isParam ? params.get(source.name) : schemas[source.from];
    if (present && present !== source.schema) {
      const part = isParam ? `path parameter "${source.name}"` : source.from;
      throw new TypeError(
        `Cannot register ${type.name}.${name}: expected one schema for the ${part}`,
      );
    }
    if (isParam) params.set(source.name, source.schema);
    else schemas[source.from] = source.schema;
  }
  if (params.size > 0) schemas.params = recordSchema(params);
  return Object.keys(schemas).length > 0 ? [validate(schemas)] : [];
}

/**
 * Makes the router reject a path without the parameters that the method reads. The first middleware
 * declares all of them: the router does not check middleware after a validator, which declares those
 * with a schema.
 */
function needParams(type: Type, { name }: Action, layers: readonly Middleware[]): Middleware[] {
  const sources = [...sourcesOf(type, name).values()];
  const needed = sources.flatMap((source) => (source.from === 'params' ? [source.name] : []));
  if (needed.length === 0) return [...layers];
  const missingPathParam = (names: readonly string[]) =>
    needed.find((param) => !names.includes(param));
  return layers.map((layer, index) =>
    index === 0 ? annotate(layer, { ...metadataOf(layer), missingPathParam }) : layer,
  );
}

function handle(type: Type, { name }: Action, find: () => object): Middleware {
  const method: unknown = Reflect.get(Object(type.prototype), name);
  if (typeof method !== 'function') {
    throw new TypeError(`Cannot register ${type.name}.${name}: expected a method`);
  }
  const sources = sourcesOf(type, name);
  const count = Math.max(method.length, ...[...sources.keys()].map((index) => index + 1));
  const readers = Array.from({ length: count }, (_, index) => readerOf(sources.get(index)));
  return (ctx) => {
    const args = readers.map((read) => read(ctx));
    return Reflect.apply(method, find(), args); // the router sends what it returns
  };
}

/** A parameter without a source receives the context. */
function readerOf(source: Source | undefined): (ctx: Context) => unknown {
  if (!source) return (ctx) => ctx;
  const { from } = source;
  if (from !== 'params') return (ctx) => ctx[from];
  return (ctx) => ctx.params[source.name];
}

function joinPaths(prefix: string, path: string): string {
  const start = `/${prefix}`.replace(/^\/+/, '/').replace(/\/$/, '');
  const end = `/${path}`.replace(/^\/+/, '/');
  return end === '/' ? start || '/' : start + end;
}

markFactories({ controllersPlugin });
