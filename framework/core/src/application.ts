import type { IncomingMessage, ServerResponse } from 'node:http';

import { type Chain, compose, END } from './compose.ts';
import type { Context, Middleware } from './context.ts';
import {
  consoleLogger,
  type LogFields,
  type Logger,
  messageFirst,
  type PinoLogger,
} from './logger.ts';
import {
  metadataOf,
  rejectFactory,
  requireMiddleware,
  runsRoutes,
  runUnder,
} from './middleware.ts';
import { TrackedResponse } from './node/tracked-response.ts';
import { aFunction, anObjectWith, milliseconds, readOptions } from './options.ts';
import { createPrefixTest, readPattern } from './request/path.ts';
import { warnOfUnparsedBody } from './request/read-body.ts';
import { readTarget, UNREADABLE } from './request/request-target.ts';
import { aTrustProxy, readTrustProxy, type TrustProxy } from './request/trust-proxy.ts';
import { type ContextSettings, NodePair, RequestContext } from './request-context.ts';
import { writeWhenDone } from './response/write-response.ts';
import type { NoParts } from './router/response-types.ts';
import { type AnyHandler, RouteRegistrar, TreeRouter } from './router/router.ts';
import type { AllowedMethodsOptions, RouteDefinition, RouteMethods } from './router/types.ts';
import { isProduction, warnOfRoute } from './warnings.ts';

export interface ApplicationOptions {
  /** `console`, pino or any other `Logger`. Default: standard output and standard error. */
  readonly logger?: Logger | PinoLogger;
  /** Returns fields for each line of `ctx.log`, such as the id of a trace. Default: none. */
  readonly logFields?: (ctx: Context) => LogFields | undefined;
  /** The trusted proxies, whose `X-Forwarded-*` headers are used. Default false: none. */
  readonly trustProxy?: TrustProxy;
  /** Time after which `ctx.signal` aborts, in milliseconds. Default 0: never. */
  readonly deadlineMs?: number;
  /**
   * Outermost middleware. Also runs for requests rejected before any other middleware: `next()` then
   * rejects with a `BadRequestError`.
   */
  readonly outermost?: Middleware;
}

/** A router that an application can mount. */
export interface Routable {
  /** Returns the middleware that runs the routes under `prefix`. Default prefix: none. */
  routes(prefix?: string): Middleware;
}

/** Extends an application. May be asynchronous: `listen` waits for it. */
export type Plugin = (app: Application) => void | Promise<void>;

/**
 * An ordered stack of middleware and routes, with its settings. A route runs at its position: after
 * the middleware that was added before it, and without the middleware added after it. The most
 * specific route of the application wins, in any order of registration.
 */
export interface Application extends RouteMethods<'', NoParts> {
  /** The logger of the options; its methods take the message first. */
  readonly logger: Logger;
  /** Adds middleware for every request, in order, except those of routes added before. */
  use(...middleware: readonly Middleware[]): this;
  /** Adds middleware for `prefix` and all paths under it. */
  use(prefix: string, ...middleware: readonly Middleware[]): this;
  /** Mounts the routes of `router` under `prefix`. */
  route(prefix: string, router: Routable): this;
  /** Every route that was registered on the application itself, for `openapi({ router: app })`. */
  getRoutes(): readonly RouteDefinition[];
  /**
   * Returns middleware that responds to other methods of the paths of the application's own routes.
   * Add it after the routes. A mounted router has its own `allowedMethods()`.
   */
  allowedMethods(options?: AllowedMethodsOptions): Middleware;
  /**
   * Runs `plugin` with an application that adds middleware at this position, even after an `await`.
   */
  plugin(plugin: Plugin): this;
  /**
   * Resolves once every plugin has finished and the middleware has checked what it was given; rejects
   * with the first failure.
   */
  ready(): Promise<void>;
  /**
   * Serves one request of a `node:http` server: `http.createServer(app.handle)`. Await `ready()` first:
   * unlike `listen`, it does not wait for plugins.
   */
  handle(req: IncomingMessage, res: ServerResponse): void;
}

/**
 * Creates an application.
 *
 * ```ts
 * const app = createApp();
 * app.use((ctx) => ctx.json({ hello: 'world' }));
 * const { port } = await listen(app, 3000);
 * ```
 *
 * @throws {TypeError} if an option is unknown or its value is invalid
 */
export function createApp(options: ApplicationOptions = {}): Application {
  const shared = readApplicationOptions(options);
  return new StackedApplication(shared, shared.stack);
}

/** Middleware in order; a nested list contains the middleware of one plugin. */
type Stack = (Middleware | Stack)[];

/** What an application shares with the applications that its plugins get. */
interface Shared {
  readonly logger: Logger;
  readonly settings: ContextSettings;
  readonly isDevelopment: boolean;
  /** The whole stack. */
  readonly stack: Stack;
  /** Runs alone for requests that are rejected before the chain. */
  readonly outermost: Chain;
  /** Contains the groups: the most specific route of all wins, and a route in two groups is a conflict. */
  readonly router: TreeRouter;
  /** Consecutive routes form a group, whose middleware runs at their position. */
  readonly groupOf: WeakMap<Stack[number], TreeRouter>;
  readonly plugins: Promise<void>[];
  readonly handle: Application['handle'];
  /** The composed stack; `undefined` after middleware was added. */
  chain: Chain | undefined;
}

class StackedApplication extends RouteRegistrar implements Application {
  readonly logger: Logger;
  readonly handle: Application['handle'];
  readonly #shared: Shared;
  /** Where this application adds middleware: the whole stack, or the list of a plugin. */
  readonly #stack: Stack;

  constructor(shared: Shared, stack: Stack) {
    super();
    this.logger = shared.logger;
    this.handle = shared.handle;
    this.#shared = shared;
    this.#stack = stack;
  }

  use(first: string | Middleware, ...rest: readonly Middleware[]): this {
    const added = typeof first === 'string' ? rest : [first, ...rest];
    if (added.length === 0) {
      throw new TypeError(`Cannot use "${first}" without middleware: expected a function after it`);
    }
    requireMiddleware(added, 'Cannot use');
    return this.#add(
      ...(typeof first === 'string'
        ? [runUnder(createPrefixTest(readPrefix(first)), compose(rest))]
        : added),
    );
  }

  route(prefix: string, router: Routable): this {
    if (typeof prefix !== 'string') {
      throw new TypeError(
        "Cannot mount a router: expected a prefix first, as in app.route('/', router)",
      );
    }
    if (typeof router?.routes !== 'function') {
      const given = typeof router === 'function' ? 'a function' : `"${String(router)}"`;
      throw new TypeError(`Cannot mount ${given} at "${prefix}": expected a router`);
    }
    return this.use(router.routes(prefix));
  }

  addRoutes(methods: readonly string[], path: string, handlers: readonly AnyHandler[]): this {
    const { router, groupOf } = this.#shared;
    const last = this.#stack.at(-1);
    const present = last && groupOf.get(last);
    if (present) {
      present.addRoutes(methods, path, handlers);
      return this;
    }
    const group = new TreeRouter({});
    router.mount('/', group);
    const run = router.routesOf(group);
    group.addRoutes(methods, path, handlers);
    groupOf.set(run, group);
    return this.#add(run);
  }

  getRoutes(): readonly RouteDefinition[] {
    return this.#shared.router.getRoutes();
  }

  allowedMethods(options?: AllowedMethodsOptions): Middleware {
    return this.#shared.router.allowedMethods(options);
  }

  plugin(plugin: Plugin): this {
    requirePlugin(plugin);
    const stack: Stack = [];
    this.#add(stack);
    const app = new StackedApplication(this.#shared, stack);
    const running = (async () => plugin(app))();
    running.catch(() => {}); // ready() rejects
    this.#shared.plugins.push(running);
    return this;
  }

  async ready(): Promise<void> {
    const { plugins, stack } = this.#shared;
    let count: number;
    do {
      count = plugins.length;
      await Promise.all(plugins);
    } while (count < plugins.length); // plugins may add plugins
    const layers = flatten(stack);
    for (const [at, layer] of layers.entries()) {
      metadataOf(layer)?.onReady?.(this.logger, {
        isAfterRoutes: layers.slice(0, at).some(runsRoutes),
        isBeforeRoutes: layers.slice(at + 1).some(runsRoutes),
      });
    }
  }

  #add(...items: Stack): this {
    this.#stack.push(...items);
    this.#shared.chain = undefined;
    return this;
  }
}

function readApplicationOptions(options: ApplicationOptions): Shared {
  const {
    logger = consoleLogger,
    logFields,
    trustProxy = false,
    deadlineMs = 0,
    outermost,
  } = readOptions('createApp()', options, {
    logger: anObjectWith('a logger with info, warn and error', ['info', 'warn', 'error']),
    logFields: aFunction,
    trustProxy: aTrustProxy,
    deadlineMs: milliseconds,
    outermost: aFunction,
  });
  const stack: Stack = outermost ? [outermost] : [];
  const log = messageFirst(logger);
  const isTrustedProxy = readTrustProxy(trustProxy);
  const handle = (req: IncomingMessage, res: ServerResponse) => serve(shared, req, res);
  const shared: Shared = {
    logger: log,
    settings: { log, logFields, isTrustedProxy, deadlineMs, handle },
    isDevelopment: !isProduction(),
    stack,
    outermost: compose(flatten(stack)),
    router: new TreeRouter({}),
    groupOf: new WeakMap(),
    plugins: [],
    handle,
    chain: undefined,
  };
  return shared;
}

/**
 * Serves one request; docs/architecture.md describes the eight steps:
 *
 * 1. socket: the server has read the head of the request.
 * 2. target: `readTarget` checks the head and normalises the path.
 * 3. context: `RequestContext` reads the request and records the response.
 * 4. chain: the middleware runs in order, each with its `next()`.
 * 5. route: the middleware of a router finds the route and runs its own chain.
 * 6. handler: the last function of the route returns or sends the response.
 * 7. contract: makes JSON of the declared fields, if `endpoint()` declares the response.
 * 8. response: `writeWhenDone` writes head and body once the chain has ended.
 */
function serve(shared: Shared, req: IncomingMessage, res: ServerResponse): void {
  let target = UNREADABLE;
  let chain: Chain;
  shared.chain ??= compose(flatten(shared.stack));
  try {
    target = readTarget(req);
    chain = target.path === '*' ? serverWide(shared.outermost) : shared.chain;
  } catch (error) {
    chain = (ctx) => shared.outermost(ctx, () => Promise.reject(error));
  }
  const ctx = new RequestContext(new NodePair(req, res), target, shared.settings);
  if (res instanceof TrackedResponse) res.log = shared.logger;
  if (shared.isDevelopment) {
    warnIfSlow(ctx);
    warnOfUnparsedBody(ctx);
  }
  writeWhenDone(ctx, chain(ctx, END));
}

const SLOW_MS = 10_000;

/** In development: warns once per route if a request has no response after 10 s. */
function warnIfSlow(ctx: Context): void {
  const { res } = ctx.raw;
  const warn = () => {
    if (res.headersSent || res.destroyed || res.statusCode === 101) return;
    const remedy = 'does it await a promise that never settles?';
    warnOfRoute(ctx, 'has no response after 10 s', remedy);
  };
  const timer = setTimeout(warn, SLOW_MS).unref();
  res.once('close', () => clearTimeout(timer));
}

/** `OPTIONS *` applies to the server as a whole (RFC 9110 §9.3.7). */
function serverWide(outermost: Chain): Chain {
  return (ctx) =>
    outermost(ctx, () => {
      ctx.status = 204;
      return END();
    });
}

function flatten(stack: Stack): Middleware[] {
  return stack.flatMap((item) => (typeof item === 'function' ? [item] : flatten(item)));
}

/** @throws {TypeError} if `prefix` is not a path, or contains a parameter or a wildcard */
function readPrefix(prefix: string): string {
  const action = `Cannot use middleware at "${prefix}"`;
  const pattern = readPattern(prefix, action);
  if (pattern.split('/').some((segment) => segment.startsWith(':') || segment === '*')) {
    throw new TypeError(
      `${action}: expected a prefix without parameters; a router's group() takes them`,
    );
  }
  return pattern;
}

function requirePlugin(plugin: unknown): void {
  if (typeof plugin !== 'function') {
    throw new TypeError(`Cannot use "${String(plugin)}" as a plugin: expected a function`);
  }
  rejectFactory(plugin, 'Cannot use');
  if (metadataOf(plugin)) {
    throw new TypeError('Cannot use middleware as a plugin: use app.use(middleware)');
  }
}
