import { AsyncLocalStorage } from 'node:async_hooks';

import { type Context, type Middleware, markFactories } from '@fw/core';

const storage = new AsyncLocalStorage<Context>();

/**
 * Makes the context of the request available to every function that the middleware and handlers after
 * it call, also after an `await`: see `currentContext()`.
 */
export function requestContext(): Middleware {
  return (ctx, next) => storage.run(ctx, next);
}

/**
 * The context of the request that this code runs for: its log, request id, signal and state, without a
 * parameter. Reads the context on each call: a context that is kept outlives its request.
 *
 * @throws {Error} outside of a request, or before `requestContext()`
 */
export function currentContext(): Context {
  const ctx = storage.getStore();
  if (!ctx) {
    throw new Error(
      'Cannot find the current context: expected a call during a request, after requestContext()',
    );
  }
  return ctx;
}

markFactories({ requestContext });
