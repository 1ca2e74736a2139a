import type { IncomingMessage, ServerResponse } from 'node:http';

import { type Context, type Middleware, markFactories } from '@fw/core';
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
    let downstream: Promise<void> | undefined;
    const continues = run(middleware, ctx, () => {
      downstream = next();
    });
    return downstream ?? continues.then((isContinued) => (isContinued ? next() : undefined));
  };
}

/**
 * Runs `middleware`. A synchronous `next()` calls `continueNow`, in the asynchronous context of the
 * middleware. Otherwise resolves with whether the rest of the application should run.
 */
function run(
  middleware: ConnectMiddleware,
  ctx: Context,
  continueNow: () => void,
): Promise<boolean> {
  const { req, res } = ctx.raw;
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  let isSynchronous = true;
  let isOver = false;
  /** Ends the middleware; returns whether it had not ended before. */
  const end = (): boolean => {
    if (isOver) return false;
    isOver = true;
    res.off('close', onClose);
    if (!res.headersSent) takeFromNode(ctx);
    return true;
  };
  const onClose = () => {
    if (res.headersSent) copyStatus(ctx);
    if (end()) resolve(false);
  };
  const fail = (error: unknown) => {
    const { statusCode } = res;
    if (end()) reject(withStatus(error, statusCode));
    else ctx.log.error(`${ctx.method} ${ctx.path}: a middleware failed after next()`, error);
  };
  const onNext = (error?: unknown) => {
    if (isFailure(error)) fail(error);
    else if (!end()) return;
    else if (isSynchronous) continueNow();
    else resolve(true);
  };

  passToNode(ctx);
  const prototype = Object.getPrototypeOf(res);
  try {
    const returned = middleware(req as never, res as never, onNext);
    if (Object.getPrototypeOf(res) !== prototype) keepMethods(res, prototype);
    if (returned instanceof Promise) returned.catch(fail);
  } catch (error) {
    fail(error);
  }
  isSynchronous = false;
  if (!isOver) res.once('close', onClose);
  return promise;
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
    req.hostname = ctx.host.replace(/:\d*$/, '');
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
