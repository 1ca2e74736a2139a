import type { IncomingMessage, ServerResponse } from 'node:http';

import { type Context, type Middleware, markFactories, type Next } from '@fw/core';
import {
  forwardedIps,
  hasParsedBody,
  routedUrl,
  takeHeaders,
  takeNodeHeaders,
} from '@fw/core/extension';
import { HttpError } from '@fw/errors';

/** Middleware written for Express or connect. `never` accepts the request types of every package. */
export type ConnectMiddleware = (
  req: never,
  res: never,
  next: (error?: unknown) => void,
) => unknown;

/** Properties of an Express request that middleware reads or sets. */
interface ConnectRequest extends IncomingMessage {
  body?: unknown;
  originalUrl?: string;
  ip?: string;
  ips?: readonly string[];
  host?: string;
  hostname?: string;
  protocol?: string;
  secure?: boolean;
}

/**
 * Runs middleware that was written for Express: `connect(helmet())`. What follows runs once it calls
 * `next()`; `next(error)`, a thrown error and a rejection are errors of this middleware. If it responds
 * itself, `ctx.responded` is true and nothing else runs.
 *
 * @throws {TypeError} if `middleware` is an error handler, or a function that has not been called
 */
export function connect(middleware: ConnectMiddleware): Middleware {
  requireConnectMiddleware(middleware);
  return (ctx, next) => {
    if (ctx.raw.res.destroyed) return; // the client has disconnected: no event would follow
    return new Run(ctx, next).start(middleware);
  };
}

/** One call of a middleware. */
class Run {
  readonly #ctx: Context;
  readonly #next: Next;
  #isOver = false;
  /** How it ended, if it ended before it returned. */
  #ended: Promise<void> | undefined;
  /** Ends it later: whether the rest of the application should run. */
  #later: PromiseWithResolvers<boolean> | undefined;
  #onClose: (() => void) | undefined;

  constructor(ctx: Context, next: Next) {
    this.#ctx = ctx;
    this.#next = next;
  }

  /**
   * What follows a synchronous `next()` runs in the asynchronous context of the middleware, and after a later
   * one in that of the request.
   */
  start(middleware: ConnectMiddleware): Promise<void> {
    const { req, res } = this.#ctx.raw;
    passToNode(this.#ctx);
    const prototype = Object.getPrototypeOf(res);
    try {
      const returned = middleware(req as never, res as never, (error) => this.#onNext(error));
      if (Object.getPrototypeOf(res) !== prototype) keepMethods(res, prototype);
      if (returned instanceof Promise) returned.catch((error) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    }
    if (this.#ended) return this.#ended;
    this.#later = Promise.withResolvers();
    this.#onClose = () => this.#close();
    res.once('close', this.#onClose);
    return this.#later.promise.then((isContinued) => (isContinued ? this.#next() : undefined));
  }

  /** Returns whether it had not ended before. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    const { res } = this.#ctx.raw;
    if (this.#onClose) res.off('close', this.#onClose);
    if (!res.headersSent) takeFromNode(this.#ctx);
    return true;
  }

  #onNext(error: unknown): void {
    if (isFailure(error)) this.#fail(error);
    else if (!this.#end()) return;
    else if (this.#later) this.#later.resolve(true);
    else this.#ended = this.#next();
  }

  #fail(error: unknown): void {
    const ctx = this.#ctx;
    const { statusCode } = ctx.raw.res;
    if (!this.#end()) {
      ctx.log.error(`${ctx.method} ${ctx.path}: a middleware failed after next()`, error);
      return;
    }
    const reason = withStatus(error, statusCode);
    if (this.#later) this.#later.reject(reason);
    else this.#ended = Promise.reject(reason);
  }

  #close(): void {
    if (this.#ctx.raw.res.headersSent) copyStatus(this.#ctx);
    if (this.#end()) this.#later?.resolve(false);
  }
}

/**
 * An Express application replaces the prototype of the response, and so the methods of this server, whose
 * calls have no effect after the response: an error in a callback would end the process.
 */
function keepMethods(res: ServerResponse, prototype: object): void {
  const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(prototype);
  for (const [name, method] of Object.entries(methods)) {
    if (!Object.hasOwn(res, name)) Object.defineProperty(res, name, method);
  }
}

/**
 * Express sends the status of an error that has `status` or `statusCode`, or that of the response. fw also
 * requires `expose`, because errors of HTTP clients have the status of another server. The message is not
 * sent, as in Express. An error whose properties cannot be read gets 500.
 */
function withStatus(error: unknown, assigned: number): unknown {
  try {
    const { status, statusCode, expose, headers } = Object(error);
    if (Number.isInteger(status) && typeof expose === 'boolean') return error;
    const own = [status, statusCode, assigned].find(
      (one) => Number.isInteger(one) && one >= 400 && one <= 599,
    );
    if (own === undefined) return error;
    const isSent = expose === true && error instanceof Error;
    return new HttpError(own, isSent ? error.message : undefined, { cause: error, headers });
  } catch {
    return new HttpError(500, undefined, { cause: error });
  }
}

/** Express skips routes at these values; the middleware of an application has none to skip. */
function isFailure(error: unknown): boolean {
  return Boolean(error) && error !== 'route' && error !== 'router';
}

/** Lets the middleware see the parsed body and the headers, which it also sends if it responds. */
function passToNode(ctx: Context): void {
  const { res } = ctx.raw;
  const req: ConnectRequest = ctx.raw.req;
  if (req.originalUrl === undefined) {
    if (req.url === ctx.url) req.url = routedUrl(ctx); // else middleware has rewritten it
    req.originalUrl = routedUrl(ctx);
    // A mounted Express application has a setting of its own, "trust proxy", which these replace.
    req.ip = ctx.ip;
    req.ips = forwardedIps(ctx);
    req.host = ctx.host;
    req.hostname = req.host.replace(/:\d*$/, '');
    req.protocol = ctx.protocol;
    req.secure = ctx.protocol === 'https';
  }
  if (hasParsedBody(ctx)) req.body = ctx.body;
  for (const [name, value] of takeHeaders(ctx)) res.setHeader(name, value);
}

/** Records what the middleware has set, so that the rest of the application sees and replaces it. */
function takeFromNode(ctx: Context): void {
  const { res } = ctx.raw;
  const req: ConnectRequest = ctx.raw.req;
  if (req.body !== undefined) ctx.body = req.body;
  takeNodeHeaders(ctx);
  if (res.statusCode !== 200) copyStatus(ctx);
  res.statusCode = 200; // the next middleware of this kind starts with it
}

/** Node also accepts statuses that are not defined; an error here would have no request to fail. */
function copyStatus(ctx: Context): void {
  const { statusCode } = ctx.raw.res;
  if (statusCode >= 200 && statusCode <= 599) ctx.status = statusCode;
}

function requireConnectMiddleware(middleware: ConnectMiddleware): void {
  const expected = 'expected a function (req, res, next), such as helmet()';
  if (typeof middleware !== 'function') {
    throw new TypeError(`Cannot connect "${String(middleware)}": ${expected}`);
  }
  const { length } = middleware;
  const name = middleware.name || 'a function';
  if (length === 1) throw new TypeError(`Cannot connect ${name}: call it; ${expected}`);
  if (length > 3) throw new TypeError(`Cannot connect ${name}, an error handler: ${expected}`);
}

markFactories({ connect });
