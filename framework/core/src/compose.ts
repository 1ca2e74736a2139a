import type { Context, Middleware, Next } from './context.ts';
import { requireMiddleware } from './require-middleware.ts';

/**
 * What `next()` returns when everything after it has run already. A middleware that finds this very
 * promise has nothing to wait for and can stay synchronous.
 */
export const DONE: Promise<void> = Promise.resolve();

/** The `next` of whoever runs a whole application, and waits for it: there is nothing more. */
export const END: Next = () => DONE;

/** Middleware joined into one: never throws, and returns `DONE` when nothing in it had to wait. */
export type Chain = (ctx: Context, next: Next) => Promise<void>;

/**
 * Joins middleware into one, which runs them in order; each layer's `next` resolves once everything
 * after it has run, and rejects from the second call in one layer on. A synchronous layer that calls
 * `next()` without returning it is waited for all the same; an asynchronous one is not, and what it
 * did not wait for can only be logged. Where all layers are synchronous, so is
 * the whole.
 *
 * @throws {TypeError} if a layer is not a middleware function
 */
export function compose(stack: readonly Middleware[]): Chain {
  requireMiddleware(stack, 'Cannot compose');
  return stack.reduceRight<Chain>(
    (rest, layer) => link(layer, rest),
    (_ctx, next) => next(),
  );
}

/** `ctx.next` is always the `next` of the layer that runs, so that both forms are one. */
interface ChainedContext extends Context {
  next: Next;
  /** Of the innermost layer that is waited for. */
  restoration: Restoration | undefined;
  readonly finished: boolean;
}

/** What `ctx.next` becomes once a promise is settled. */
export interface Restoration {
  readonly after: Promise<void>;
  to: Next;
}

function link(layer: Middleware, rest: Chain): Chain {
  return (context, outerNext) => {
    const ctx = context as ChainedContext;
    const callerNext = ctx.next;
    let pending: Promise<void> | undefined;
    let downstream: Promise<void> | undefined;
    let refused: Promise<void> | undefined;
    let innerNext: Next | undefined;
    let isPassedOn = false;
    const next = (): Promise<void> => {
      if (downstream) {
        refused = refuse(downstream);
        if (pending && (callerNext === END || isPassedOn)) {
          pending.then(
            () => tellOfRefusal(ctx, refused),
            () => {},
          );
        }
        return refused;
      }
      downstream = DONE;
      downstream = rest(ctx, outerNext);
      if (downstream !== DONE && !pending) {
        innerNext = ctx.next;
        ctx.next = next; // until this layer returns, whoever calls `ctx.next` is this layer
      }
      return downstream;
    };

    ctx.next = next;
    const result = settle(layer, ctx, next);
    pending = result === DONE ? (refused ?? downstream ?? DONE) : result;
    if (innerNext) ctx.next = innerNext;
    if (pending === DONE) {
      ctx.next = callerNext;
    } else if (callerNext !== END || refused) {
      if (ctx.restoration?.after === pending && !refused) {
        // This layer is over and returned what `next()` gave it: that is waited for already.
        ctx.restoration.to = callerNext;
        isPassedOn = true;
      } else {
        restoreAfter(ctx, pending, callerNext, () => refused);
      }
    }
    return pending;
  };
}

/**
 * Gives `ctx.next` back once `pending` is settled: first in line, before the caller resumes. It also
 * marks a rejection as seen: a `next()` that nobody waits for must not end the process. Whoever runs
 * the outermost layer does wait.
 */
function restoreAfter(
  ctx: ChainedContext,
  pending: Promise<void>,
  to: Next,
  refused: () => Promise<void> | undefined,
): void {
  const restoration: Restoration = { after: pending, to };
  ctx.restoration = restoration;
  pending.then(
    () => {
      ctx.next = restoration.to;
      tellOfRefusal(ctx, refused());
    },
    (error: unknown) => {
      ctx.next = restoration.to;
      if (ctx.finished) ctx.log.error('A middleware failed after the answer was sent', error);
    },
  );
}

/** Logs a second `next()` of a layer that did not fail of it. */
function tellOfRefusal(ctx: Context, refused: Promise<void> | undefined): void {
  refused?.catch((error: unknown) => ctx.log.error('A middleware went on twice', error));
}

/** What a second `next()` returns: it rejects once what the first one began is over. */
function refuse(first: Promise<void>): Promise<void> {
  const error = new Error('next() called multiple times');
  const fail = () => {
    throw error;
  };
  const refused = first.then(fail, fail);
  refused.catch(() => {}); // nobody may be waiting for it
  return refused;
}

/** Calls `layer`: what it throws becomes a rejection, what it does at once becomes `DONE`. */
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
