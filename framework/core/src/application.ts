import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Chain, compose, DONE, END } from './compose.ts';
import type { Middleware } from './context.ts';
import { consoleLogger, type Logger, messageFirst, type PinoLogger } from './logger.ts';
import { metadataOf } from './metadata.ts';
import { aFunction, anObjectWith, milliseconds, readOptions } from './options.ts';
import { underPrefix } from './request/prefix.ts';
import { readTarget } from './request/request-target.ts';
import { aTrustProxy, readTrustProxy, type TrustProxy } from './request/trust-proxy.ts';
import { type ContextSettings, RequestContext, type RequestTarget } from './request-context.ts';
import { rejectFactory, requireMiddleware } from './require-middleware.ts';
import { reportSent } from './response/sent.ts';
import { recordError, toError, writeAnswer } from './response/write-response.ts';

export interface ApplicationOptions {
  /** Takes `console`, pino, or any other `Logger`. Default: the terminal. */
  readonly logger?: Logger | PinoLogger;
  /** Whose `X-Forwarded-*` headers count: nobody's, those of so many proxies, or of networks. Default false. */
  readonly trustProxy?: TrustProxy;
  /** After how many milliseconds `ctx.signal` aborts. Default 0: never. */
  readonly deadlineMs?: number;
  /**
   * Stands around everything else. It alone sees requests that are answered before any other
   * middleware too: `next()` rejects with the refusal of one that cannot be read.
   */
  readonly around?: Middleware;
}

/** Anything that has routes to mount: a router. */
export interface Routable {
  routes(prefix?: string): Middleware;
}

/** Adds something to an application; may be asynchronous, `listen` waits for it. */
export type Plugin = (app: Application) => void | Promise<void>;

/** A stack of middleware, and what all its requests share. */
export interface Application {
  /** The logger of the options, with the message as the first argument. */
  readonly logger: Logger;
  /** Adds middleware for every request, in order. */
  use(...middleware: readonly Middleware[]): this;
  /** Adds middleware for the requests at `prefix` and below it. */
  use(prefix: string, ...middleware: readonly Middleware[]): this;
  /** Mounts a router's routes below `prefix`. */
  route(prefix: string, router: Routable): this;
  /**
   * Runs `plugin`. Middleware that it adds, even after an `await`, runs at this place in the order.
   */
  plugin(plugin: Plugin): this;
  /** Resolves once every plugin is set up; rejects with the first failure. */
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
 * @throws {TypeError} if an option has no such meaning
 */
export function createApp(options: ApplicationOptions = {}): Application {
  return new StackedApplication(options);
}

const NOWHERE: RequestTarget = { path: '/', query: '', host: '' };

/** Middleware in order; a nested list is what one plugin has added. */
type Stack = (Middleware | Stack)[];

class StackedApplication implements Application {
  readonly logger: Logger;
  readonly #settings: ContextSettings;
  readonly #stack: Stack;
  /** The list that `use` adds to inside a plugin: a plugin may add middleware after others did. */
  readonly #pluginStack = new AsyncLocalStorage<Stack>();
  readonly #around: Chain;
  readonly #plugins: Promise<void>[] = [];
  #chain: Chain | undefined;

  constructor(options: ApplicationOptions) {
    const {
      logger = consoleLogger,
      trustProxy = false,
      deadlineMs = 0,
      around,
    } = readOptions('createApp()', options, {
      logger: anObjectWith('a logger with info, warn and error', ['info', 'warn', 'error']),
      trustProxy: aTrustProxy,
      deadlineMs: milliseconds,
      around: aFunction,
    });
    this.#stack = around ? [around] : [];
    this.#around = compose(flatten(this.#stack));
    this.logger = messageFirst(logger);
    this.#settings = { log: this.logger, isTrustedProxy: readTrustProxy(trustProxy), deadlineMs };
  }

  use(first: string | Middleware, ...rest: readonly Middleware[]): this {
    const added = typeof first === 'string' ? rest : [first, ...rest];
    if (added.length === 0) {
      throw new TypeError(`Cannot use "${first}" without middleware: expected a function after it`);
    }
    requireMiddleware(added, 'Cannot use');
    return this.#add(...(typeof first === 'string' ? [underPrefix(first, compose(rest))] : added));
  }

  route(prefix: string, router: Routable): this {
    if (typeof router?.routes !== 'function') {
      const given = typeof router === 'function' ? 'a function' : `"${String(router)}"`;
      throw new TypeError(`Cannot mount ${given} at "${prefix}": expected a router`);
    }
    return this.use(router.routes(prefix));
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
  }

  #add(...items: Stack): this {
    const stack = this.#pluginStack.getStore() ?? this.#stack;
    stack.push(...items);
    this.#chain = undefined;
    return this;
  }

  readonly handle = (req: IncomingMessage, res: ServerResponse): void => {
    let target: RequestTarget;
    try {
      target = readTarget(req);
    } catch (error) {
      const ctx = new RequestContext({ req, res }, NOWHERE, this.#settings, END);
      finish(
        ctx,
        this.#around(ctx, () => Promise.reject(error)),
      );
      return;
    }
    const ctx = new RequestContext({ req, res }, target, this.#settings, END);
    this.#chain ??= compose(flatten(this.#stack));
    finish(
      ctx,
      target.path === '*' ? this.#around(ctx, () => answerServerWide(ctx)) : this.#chain(ctx, END),
    );
  };
}

function flatten(stack: Stack): Middleware[] {
  return stack.flatMap((item) => (typeof item === 'function' ? [item] : flatten(item)));
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

/** Answers once everything has run. */
function finish(ctx: RequestContext, running: Promise<void>): void {
  if (running === DONE) {
    complete(ctx);
    return;
  }
  running.then(
    () => complete(ctx),
    (error: unknown) => fail(ctx, error),
  );
}

/** `OPTIONS *` asks about the server as a whole (RFC 9110 §9.3.7). */
function answerServerWide(ctx: RequestContext): Promise<void> {
  ctx.status = 204;
  return DONE;
}

function complete(ctx: RequestContext): void {
  try {
    writeAnswer(ctx, fail);
  } catch (error) {
    fail(ctx, error);
    return;
  }
  reportSent(ctx);
}

/** The last resort: answers whatever nobody caught. */
function fail(ctx: RequestContext, error: unknown): void {
  try {
    try {
      recordError(ctx, error);
    } catch (unanswerable) {
      recordError(ctx, unanswerable); // its headers or issues cannot be written
    }
    writeAnswer(ctx, fail);
  } catch (failure) {
    ctx.log.error(`${ctx.method} ${ctx.path} could not be answered`, failure);
    ctx.raw.res.destroy(toError(failure));
  }
  reportSent(ctx);
}
