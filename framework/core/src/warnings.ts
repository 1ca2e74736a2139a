import type { Context, Middleware } from './context.ts';
import type { Logger } from './logger.ts';
import { hasBody } from './request/read-body.ts';

/** Whether checks and warnings for developers are off. */
export function isProduction(): boolean {
  return process.env.NODE_ENV === 'production';
}

/** The subjects of the warnings that each logger got. */
const warned = new WeakMap<Logger, Set<unknown>>();
const MAX_WARNINGS = 1_000;

/** Logs a warning about `subject` unless one was logged before. */
export function warnOnce(log: Logger, subject: unknown, message: string): void {
  const subjects = warned.get(log) ?? new Set();
  if (subjects.has(subject) || subjects.size >= MAX_WARNINGS) return;
  warned.set(log, subjects.add(subject));
  log.warn(message);
}

/** Logs a warning about the route of `ctx` unless one with this problem was logged before. */
export function warnOfRoute(
  ctx: Pick<Context, 'method' | 'path' | 'route' | 'log'>,
  problem: string,
  remedy: string,
): void {
  const { method, route, path, log } = ctx;
  const subject = `${route ? `${method} ${route.path}` : ''} ${problem}`;
  warnOnce(log, subject, `${method} ${route?.path ?? path} ${problem}: ${remedy}`);
}

/** Requests that get no further warning: their handler has run, or a middleware was reported. */
const examined = new WeakSet<Context>();

/** In development: a handler may end its request without a response, which is 204. */
export function acceptStop(ctx: Context): void {
  examined.add(ctx);
}

/** In development: warns once of a middleware that neither sent a response nor called `next()`. */
export function warnOfStop(ctx: Context & { decidedStatus?: number }, stopped: Middleware): void {
  if (examined.has(ctx)) return; // the middleware that contains the stopped one stopped as well
  examined.add(ctx);
  if (ctx.responded || ctx.decidedStatus || ctx.raw.res.destroyed) return;
  const source = String(stopped).replace(/\s+/g, ' ').slice(0, 80);
  const name = stopped.name === '' ? source : `"${stopped.name}"`;
  warnOnce(
    ctx.log,
    stopped,
    `${ctx.method} ${ctx.route?.path ?? ctx.path} was ended by the middleware ${name}, which neither sent a response nor called next(): add return next()`,
  );
}

/** Whether `hasParsedBody` is reading `ctx.body`, which then needs no parser. */
let isAsking = false;

/** Whether a parser, or middleware of Express, has set `ctx.body`. */
export function hasParsedBody(ctx: { readonly body?: unknown }): boolean {
  isAsking = true;
  try {
    return ctx.body !== undefined;
  } finally {
    isAsking = false;
  }
}

/** In development: warns once per route that reads `ctx.body` of a request whose body nothing has parsed. */
export function warnOfUnparsedBody(ctx: Context & { body: unknown }): void {
  if (!hasBody(ctx.raw.req)) return;
  Object.defineProperty(ctx, 'body', {
    configurable: true,
    enumerable: true,
    get() {
      if (isAsking) return undefined;
      const remedy = 'add a parser before it, such as json() of @fw/body-parser';
      warnOfRoute(ctx, 'read ctx.body, which no parser has set', remedy);
      return undefined;
    },
    set(value: unknown) {
      const settings = { configurable: true, enumerable: true, writable: true };
      Object.defineProperty(ctx, 'body', { ...settings, value });
    },
  });
}

const SLOW_MS = 10_000;

/** In development: warns once per route if a request has no response after 10 s. */
export function warnIfSlow(ctx: Context): void {
  const { res } = ctx.raw;
  const warn = () => {
    if (res.headersSent || res.destroyed || res.statusCode === 101) return;
    const remedy = 'does it await a promise that never settles?';
    warnOfRoute(ctx, 'has no response after 10 s', remedy);
  };
  const timer = setTimeout(warn, SLOW_MS).unref();
  res.once('close', () => clearTimeout(timer));
}
