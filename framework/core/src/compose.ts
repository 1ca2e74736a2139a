import type { Context, Middleware, Next } from './context.ts';
import { onlyDescribes, requireMiddleware } from './middleware.ts';
import { isClientAbort } from './request/abort.ts';
import { isProduction, warnOnce } from './warnings.ts';

/** What `next()` returns if everything after the middleware has already run without an error. */
const DONE: Promise<void> = Promise.resolve();

/** Whether `next()` returned `DONE`. A middleware that returns it too stays synchronous. */
export function hasRun(running: unknown): boolean {
  return running === DONE;
}

/** The `next` of the outermost chain: nothing follows it. */
export const END: Next = () => DONE;

/** Middleware joined into one function. It never throws: an error is a rejection. */
export type Chain = (ctx: Context, next: Next) => Promise<void>;

/**
 * Joins middleware into one function that runs it in order. The `next` of each middleware resolves
 * once everything after it has run; a repeated call rejects. Always return or await `next()`: if an
 * asynchronous middleware does not, an error of `next()` is only logged.
 *
 * @throws {TypeError} if an item is not a middleware function
 */
export function compose(stack: readonly Middleware[]): Chain {
  return joinBefore(stack, (_ctx, next) => next());
}

/** Joins the middleware of a route and its handler. A handler may end without a response and without `next()`. */
export function composeBefore(stack: readonly Middleware[], handler: Middleware): Chain {
  const onStop = isProduction() ? undefined : acceptStop;
  return joinBefore(
    stack,
    link(handler, (_ctx, next) => next(), onStop),
  );
}

function joinBefore(stack: readonly Middleware[], last: Chain): Chain {
  requireMiddleware(stack, 'Cannot compose');
  const onStop = isProduction() ? undefined : warnOfStop;
  return stack
    .filter((layer) => !onlyDescribes(layer))
    .reduceRight<Chain>((rest, layer) => link(layer, rest, onStop), last);
}

/** What a chain reads and sets of a context, besides what middleware sees. */
interface RunningContext extends Context {
  next: Next;
  /** Whether the response was written. */
  readonly isWritten: boolean;
}

/** Called in development when a middleware has ended without calling `next()`. */
type OnStop = (ctx: Context, layer: Middleware) => void;

/**
 * Joins one middleware, `layer`, with everything after it, `rest`. `ctx.next` is always the `next` of the
 * running middleware, so that `ctx.next()` and the second argument `next()` do the same.
 */
function link(layer: Middleware, rest: Chain, onStop: OnStop | undefined): Chain {
  return (context, outerNext) => {
    const ctx = context as RunningContext;
    const callerNext = ctx.next;
    /** The result of the first `next()` of the layer. */
    let downstream: Promise<void> | undefined;
    /** The result of the last repeated `next()`. */
    let repeated: Promise<void> | undefined;
    /** The result of the layer; `undefined` while its synchronous part runs. */
    let running: Promise<void> | undefined;
    /** The `next` of the middleware in `rest` that goes on once the synchronous part has ended. */
    let innerNext: Next | undefined;

    const next = (): Promise<void> => {
      if (downstream) {
        repeated = rejectAfter(downstream);
        if (running) logIgnored(ctx, repeated, running);
        return repeated;
      }
      downstream = DONE; // `rest` may call this `next` too: that call is a repeated one
      downstream = rest(ctx, outerNext);
      if (!running) {
        innerNext = ctx.next;
        ctx.next = next;
      }
      return downstream;
    };

    // 1. The synchronous part of the layer. A layer that returns no promise ends when its `next()` does.
    ctx.next = next;
    const result = settle(layer, ctx, next);
    running = result === DONE ? (repeated ?? downstream ?? DONE) : result;

    // 2. In development, a layer that has ended without `next()` is reported.
    if (onStop && !downstream) {
      const reportStop = () => {
        if (!downstream) onStop(ctx, layer);
      };
      if (running === DONE) reportStop();
      else running.then(reportStop, ignore);
    }

    // 3. Everything has run.
    if (running === DONE) {
      ctx.next = callerNext;
      return DONE;
    }

    // 4. The rest is asynchronous. When it has run, `ctx.next` is set back to that of the caller. This
    //    happens before the caller resumes, because the callbacks of a promise run in the order of their
    //    registration. The error callback also prevents an unhandled rejection if the caller does not
    //    await its `next()`.
    ctx.next = innerNext ?? next;
    if (repeated) logIgnored(ctx, repeated, running);
    if (callerNext === END) return running;
    running.then(
      () => {
        ctx.next = callerNext;
      },
      (error: unknown) => {
        ctx.next = callerNext;
        if (ctx.isWritten && running !== downstream && !isClientAbort(ctx, error)) {
          ctx.log.error('A middleware failed after the response was sent', error);
        }
      },
    );
    return running;
  };
}

/** Requests that get no further warning: their handler has run, or a middleware was reported. */
const examined = new WeakSet<Context>();

/** In development: a handler may end its request without a response, which is 204. */
function acceptStop(ctx: Context): void {
  examined.add(ctx);
}

/** In development: warns once of a middleware that neither sent a response nor called `next()`. */
function warnOfStop(ctx: Context & { decidedStatus?: number }, stopped: Middleware): void {
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

function ignore(): void {}

/** Logs a repeated `next()` unless the middleware that called it fails. */
function logIgnored(ctx: Context, repeated: Promise<void>, layer: Promise<void>): void {
  const log = (error: unknown) => ctx.log.error('A middleware called next() repeatedly', error);
  layer.then(() => repeated.catch(log), ignore);
}

/** The result of a repeated `next()`: rejects once the first call has settled. */
function rejectAfter(first: Promise<void>): Promise<void> {
  const error = new Error('next() called multiple times');
  const fail = () => {
    throw error;
  };
  const rejected = first.then(fail, fail);
  rejected.catch(ignore); // the middleware may not await it
  return rejected;
}

/** Calls `layer`. A thrown error becomes a rejection; a synchronous return becomes `DONE`. */
function settle(layer: Middleware, ctx: Context, next: Next): Promise<void> {
  try {
    const result = layer(ctx, next);
    if (result instanceof Promise) return result;
    return isThenable(result) ? Promise.resolve(result as PromiseLike<void>) : DONE;
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Whether `value` can be awaited. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
