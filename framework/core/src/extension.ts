import { DONE, isThenable } from './compose.ts';
import type { Context, MatchedRoute, Parts } from './context.ts';
import { RequestContext } from './request-context.ts';
import { addSentListener, type SentListener } from './response/sent.ts';
import { type AnswerErrorOptions, recordError } from './response/write-response.ts';

/*
 * What packages built on the core may do to a context and handlers may not.
 */

function own(ctx: Context): RequestContext {
  if (ctx instanceof RequestContext) return ctx;
  throw new TypeError(
    'Cannot use this context: expected the one that a middleware was called with',
  );
}

/** Records `error` as the answer to this request, in place of any other. */
export function answerError(ctx: Context, error: unknown, options?: AnswerErrorOptions): void {
  recordError(own(ctx), error, options);
}

/**
 * For routers: sends what a route handler returned, once it is there. A string is text, octets and
 * streams are sent as they are, anything else is JSON; `undefined` is no response. An error, and an
 * object without a JSON form such as a Map, is a 500.
 */
export function sendReturned(ctx: Context, returned: unknown): unknown {
  if (returned === undefined || returned === DONE) return returned;
  const context = own(ctx);
  if (!isThenable(returned)) return context.sendReturned(returned);
  return returned.then((value) => context.sendReturned(value));
}

/**
 * For observers: calls `listener` once, when the response has been sent to the client. Its status is
 * 499 if the client left before the response was complete, and 500 if the response failed halfway.
 */
export function onSent(ctx: Context, listener: SentListener): void {
  addSentListener(own(ctx), listener);
}

/** For routers: `route` matched, with these parameters; takes back the 404 of an earlier miss. */
export function setRoute(ctx: Context, route: MatchedRoute, params: Record<string, string>): void {
  const context = own(ctx);
  context.route = route;
  context.params = params;
  if (context.assignedStatus === 404 || context.assignedStatus === 501) context.assignedStatus = 0;
}

/** For validators: what handlers read as `ctx.params`, `ctx.query` and `ctx.body` from now on. */
export function setParts(ctx: Context, { params, query, body }: Parts): void {
  const context = own(ctx);
  if (params !== undefined) context.params = params as Record<string, string>;
  if (query !== undefined) context.query = query as Context['query'];
  if (body !== undefined) context.body = body;
}

export { DONE } from './compose.ts';
export { metadataOf } from './metadata.ts';
export { decodeSegment, foldCase, normalizePath, readPattern } from './request/path.ts';
export { createPrefixTest } from './request/prefix.ts';
export { requireMiddleware } from './require-middleware.ts';
export { statusOf, titleOf } from './response/problem.ts';
export { type AnswerErrorOptions, unmatchedStatus } from './response/write-response.ts';
