import type { Context, MatchedRoute, Parts } from './context.ts';
import type { LogFields } from './logger.ts';
import { TrackedResponse } from './node/tracked-response.ts';
import {
  type DispatchedResponse,
  type DispatchOptions,
  dispatch as dispatchTo,
} from './request/dispatch.ts';
import { type ResponseViolation, recordOf } from './request-context.ts';
import { readUserId } from './request-log.ts';
import { type Content, isStream } from './response/body.ts';
import { type ErrorResponseOptions, recordError } from './response/record-error.ts';
import { FRAMING_HEADER, findHeader } from './response/response-headers.ts';

/**
 * Records `error` as the response and replaces any other response. Logs errors with status 500 and
 * above, except 501 and errors that the disconnection of the client caused.
 */
export function respondWithError(
  ctx: Context,
  error: unknown,
  options?: ErrorResponseOptions,
): void {
  recordError(recordOf(ctx), error, options);
}

/**
 * For middleware that changes a response after `next()`: the recorded body, or `undefined` if there is
 * none or it was already sent.
 */
export function recordedBody(ctx: Context): Content | undefined {
  const context = recordOf(ctx);
  const isOpen = context.respondedBy !== '' && !context.isWritten && !ctx.raw.res.headersSent;
  return isOpen ? context.responseBody : undefined;
}

/** The length of the recorded body in bytes; -1 for a stream of unknown length. */
export function recordedLength(ctx: Context): number {
  const { responseBody, streamLength } = recordOf(ctx);
  return isStream(responseBody) ? streamLength : Buffer.byteLength(responseBody);
}

/** Sends `body` in place of the recorded one. The caller reads or destroys a stream that it replaces. */
export function replaceBody(ctx: Context, body: Content): void {
  const context = recordOf(ctx);
  if (isStream(body)) body.on('error', () => {}); // writeResponse() handles an earlier failure too
  context.responseBody = body;
  context.streamLength = -1;
}

/** For work that may be repeated: the next `ctx.json()` or `ctx.send()` replaces the recorded response. */
export function allowReplacement(ctx: Context): void {
  recordOf(ctx).isReplaceable = true;
}

/** Announces that the recorded stream has exactly `lengthBytes`: the response has a `Content-Length`. */
export function setStreamLength(ctx: Context, lengthBytes: number): void {
  recordOf(ctx).streamLength = lengthBytes;
}

/**
 * The response header `name`, in any case; values of a list are joined by `, `. `undefined` if it was
 * not set. `Content-Type` is also the type that was recorded with the body.
 */
export function responseHeader(ctx: Context, name: string): string | undefined {
  const { responseHeaders, responseType } = recordOf(ctx);
  const at = findHeader(responseHeaders, name);
  if (at >= 0) return [responseHeaders[at + 1]].flat().join(', ');
  return name.toLowerCase() === 'content-type' && responseType !== '' ? responseType : undefined;
}

/** The default of `preventStorage`. Compared by identity: a value from `ctx.set` is never this object. */
const DEFAULT_NO_STORE = ['no-store'];

/** Sets `Cache-Control: no-store` as a default, which `etag()` may replace. */
export function preventStorage(ctx: Context): void {
  recordOf(ctx).responseHeaders.push('Cache-Control', DEFAULT_NO_STORE);
}

/** Sets `Cache-Control` unless the application has set one; replaces the default of `preventStorage`. */
export function setCacheDefault(ctx: Context, cacheControl: string): void {
  if (responseHeader(ctx, 'Cache-Control') !== undefined && !hasDefaultCacheControl(ctx)) return;
  ctx.set('Cache-Control', cacheControl);
}

/** Whether `Cache-Control` is the default of `preventStorage`. */
export function hasDefaultCacheControl(ctx: Context): boolean {
  return recordOf(ctx).responseHeaders.includes(DEFAULT_NO_STORE);
}

/**
 * The path in normal form, which prefixes and routes compare, with the query: for other routers. The target
 * as sent if it is invalid.
 */
export function routedUrl(ctx: Context): string {
  return recordOf(ctx).routedUrl;
}

/** The addresses in `X-Forwarded-For` that trusted proxies wrote, that of the client first. */
export function forwardedIps(ctx: Context): readonly string[] {
  return recordOf(ctx).ips;
}

/**
 * Removes the recorded response headers and returns them as names and values: for code that passes them
 * to Node because it may send the response itself.
 */
export function takeHeaders(ctx: Context): readonly (readonly [string, string | string[]])[] {
  const context = recordOf(ctx);
  const headers = context.responseHeaders;
  context.responseHeaders = [];
  return headers.flatMap((name, at) =>
    at % 2 === 0 ? [[String(name), headers[at + 1] ?? '']] : [],
  );
}

/**
 * Records the headers that were set with Node's methods, in place of those recorded before, and removes
 * them from Node's response. Those that only the server sets are dropped.
 */
export function takeNodeHeaders(ctx: Context): void {
  const { res } = ctx.raw;
  for (const name of res.getHeaderNames()) {
    const value = res.getHeader(name) ?? '';
    res.removeHeader(name);
    if (!FRAMING_HEADER.test(name)) ctx.set(name, value);
  }
  if (res instanceof TrackedResponse) res.hasOwnHeaders = false;
}

/** How the response of `ctx` broke the contract of its route; `undefined` if it did not. */
export function violationOf(ctx: Context): ResponseViolation | undefined {
  return recordOf(ctx).violation;
}

/** The id in `ctx.state.user`, else the `userId` of the session: that of the lines of `ctx.log`. */
export function userIdOf(ctx: Context): string | undefined {
  return readUserId(ctx.state);
}

/** What `ctx.log.with()` has added; `undefined` for a request that has logged nothing. */
export function addedLogFields(ctx: Context): LogFields | undefined {
  return recordOf(ctx).addedLogFields;
}

/** For middleware that serves a path itself: its `ctx.route`, for logs and metrics. */
export function setRoute(ctx: Context, route: MatchedRoute): void {
  recordOf(ctx).route = route;
}

/**
 * For middleware that translates another protocol: sends a request of the client of `ctx` to the same
 * application, without a connection. All middleware runs as for any request, and sees the address and
 * the TLS certificate of the client. If the client disconnects, the request is aborted.
 *
 * Rejects with the reason if the response is an event stream, exceeds the limit or is not completed,
 * and if `ctx` is itself such a request.
 */
export function dispatch(ctx: Context, options: DispatchOptions): Promise<DispatchedResponse> {
  return dispatchTo(ctx, recordOf(ctx).handle, options);
}

/** For validators: replaces `ctx.params`, `ctx.query` and `ctx.body`. */
export function setParts(ctx: Context, { params, query, body }: Parts): void {
  const context = recordOf(ctx);
  if (params !== undefined) context.params = params as Record<string, string>;
  if (query !== undefined) context.query = query as Context['query'];
  if (body !== undefined) context.body = body;
}

export { hasRun, isThenable } from './compose.ts';
export { describeRoute, metadataOf } from './middleware.ts';
export { loadOptional } from './optional-package.ts';
export { type DispatchedResponse, type DispatchOptions, viaOf } from './request/dispatch.ts';
export { TOKEN } from './request/media-type.ts';
export { createPrefixTest, foldCase, isSamePath, readPattern } from './request/path.ts';
export { hasParsedBody } from './request/read-body.ts';
export { parsePairs } from './request/request-target.ts';
export { type Content, isStream } from './response/body.ts';
export { PROBLEM_TYPE, problemOfStatus, statusOf } from './response/problem.ts';
export { titleOf, unmatchedStatus } from './response/status.ts';
export { onSent } from './response/write-response.ts';
export { errorCodes, readsBody } from './router/declared-errors.ts';
export { pointerOf, stringify } from './schema/stringify.ts';
export { closingSignal, type UpgradedConnection } from './server/connections.ts';
export {
  acceptUpgrades,
  isUpgrade,
  type RawConnection,
  switchProtocols,
  type TakeOver,
  upgradedConnection,
} from './server/upgrade.ts';
export { isProduction, warnOnce } from './warnings.ts';
