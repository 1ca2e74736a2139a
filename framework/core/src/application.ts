import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { type Chain, compose, END } from './compose.ts';
import type { Middleware } from './context.ts';
import { consoleLogger, type Logger, messageFirst, type PinoLogger } from './logger.ts';
import { metadataOf, rejectFactory, requireMiddleware, runsRoutes } from './middleware.ts';
import { aFunction, anObjectWith, milliseconds, readOptions } from './options.ts';
import { createPrefixTest, readPattern, runUnder } from './request/path.ts';
import { readTarget, UNREADABLE } from './request/request-target.ts';
import { aTrustProxy, readTrustProxy, type TrustProxy } from './request/trust-proxy.ts';
import { type ContextSettings, NodePair, RequestContext } from './request-context.ts';
import { finish } from './response/write-response.ts';
import { TreeRouter } from './router/create-router.ts';
import {
  type AnyHandler,
  type NoParts,
  type RouteMethods,
  RouteRegistrar,
} from './router/register.ts';
import type { AllowedMethodsOptions, RouteDefinition } from './router/router.ts';
import { isProduction, warnIfSlow, warnOfUnparsedBody } from './warnings.ts';

export interface ApplicationOptions {
  /** `console`, pino or any other `Logger`. Default: standard output and standard error. */
  readonly logger?: Logger | PinoLogger;
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
  /** Adds middleware for every request, in order. */
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
   * Runs `plugin`. Middleware that it adds, even after an `await`, runs at this position.
   */
  plugin(plugin: Plugin): this;
  /**
   * Resolves once every plugin has finished and the middleware has checked what it was given; rejects
   * with the first failure.
   */
  ready(): Promise<void>;
  /** Serves one request of a `node:http` server: `http.createServer(app.handle)`. */
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
  return new StackedApplication(options);
}

/** Middleware in order; a nested list contains the middleware of one plugin. */
type Stack = (Middleware | Stack)[];

class StackedApplication extends RouteRegistrar implements Application {
  readonly logger: Logger;
  readonly #settings: ContextSettings;
  readonly #isDevelopment = !isProduction();
  readonly #stack: Stack;
  /** Contains the groups: the most specific route of all wins, and a route in two groups is a conflict. */
  readonly #router = new TreeRouter({});
  /** Consecutive routes form a group, whose middleware runs at their position. */
  readonly #groupOf = new WeakMap<Stack[number], TreeRouter>();
  /** The list of the running plugin: it may add middleware after later middleware was added. */
  readonly #pluginStack = new AsyncLocalStorage<Stack>();
  readonly #outermost: Chain;
  readonly #plugins: Promise<void>[] = [];
  #chain: Chain | undefined;

  constructor(options: ApplicationOptions) {
    super();
    const {
      logger = consoleLogger,
      trustProxy = false,
      deadlineMs = 0,
      outermost,
    } = readOptions('createApp()', options, {
      logger: anObjectWith('a logger with info, warn and error', ['info', 'warn', 'error']),
      trustProxy: aTrustProxy,
      deadlineMs: milliseconds,
      outermost: aFunction,
    });
    this.#stack = outermost ? [outermost] : [];
    // Runs alone for requests that are rejected before the chain.
    this.#outermost = compose(flatten(this.#stack));
    this.logger = messageFirst(logger);
    this.#settings = {
      log: this.logger,
      isTrustedProxy: readTrustProxy(trustProxy),
      deadlineMs,
      handle: this.handle,
    };
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

  protected addRoute(method: string, path: string, handlers: readonly AnyHandler[]): this {
    const last = this.#openStack().at(-1);
    const present = last && this.#groupOf.get(last);
    if (present) {
      present.route(method, path, ...handlers);
      return this;
    }
    const group = new TreeRouter({});
    this.#router.mount('/', group);
    const run = this.#router.routesOf(group);
    group.route(method, path, ...handlers);
    this.#groupOf.set(run, group);
    return this.#add(run);
  }

  getRoutes(): readonly RouteDefinition[] {
    return this.#router.getRoutes();
  }

  allowedMethods(options?: AllowedMethodsOptions): Middleware {
    return this.#router.allowedMethods(options);
  }

  plugin(plugin: Plugin): this {
    requirePlugin(plugin);
    const stack: Stack = [];
    this.#add(stack);
    const running = this.#pluginStack.run(stack, async () => plugin(this));
    running.catch(() => {}); // ready() rejects
    this.#plugins.push(running);
    return this;
  }

  async ready(): Promise<void> {
    let count: number;
    do {
      count = this.#plugins.length;
      await Promise.all(this.#plugins);
    } while (count < this.#plugins.length); // plugins may add plugins
    const layers = flatten(this.#stack);
    for (const [at, layer] of layers.entries()) {
      metadataOf(layer)?.onReady?.(this.logger, {
        isAfterRoutes: layers.slice(0, at).some(runsRoutes),
        isBeforeRoutes: layers.slice(at + 1).some(runsRoutes),
      });
    }
  }

  /** `OPTIONS *` applies to the server as a whole (RFC 9110 §9.3.7). */
  readonly #serverWide: Chain = (ctx) =>
    this.#outermost(ctx, () => {
      ctx.status = 204;
      return END();
    });

  #add(...items: Stack): this {
    this.#openStack().push(...items);
    this.#chain = undefined;
    return this;
  }

  /** The list to which this code adds: that of the running plugin, or the whole stack. */
  #openStack(): Stack {
    return this.#pluginStack.getStore() ?? this.#stack;
  }

  readonly handle = (req: IncomingMessage, res: ServerResponse): void => {
    let target = UNREADABLE;
    let chain: Chain;
    this.#chain ??= compose(flatten(this.#stack));
    try {
      target = readTarget(req);
      chain = target.path === '*' ? this.#serverWide : this.#chain;
    } catch (error) {
      chain = (ctx) => this.#outermost(ctx, () => Promise.reject(error));
    }
    const ctx = new RequestContext(new NodePair(req, res), target, this.#settings);
    if (this.#isDevelopment) {
      warnIfSlow(ctx);
      warnOfUnparsedBody(ctx);
    }
    finish(ctx, chain(ctx, END));
  };
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
