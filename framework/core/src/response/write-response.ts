import type { ServerResponse } from 'node:http';
import { finished, PassThrough, pipeline, type Readable } from 'node:stream';
import type { RequestContext } from '../request-context.ts';
import { isStream } from './body.ts';
import { sendWhole, writeHead } from './head.ts';
import {
  headersOf,
  type Problem,
  problemOf,
  problemOfStatus,
  stackOf,
  statusOf,
} from './problem.ts';

/** Methods of RFC 9110, RFC 5789 and RFC 10008; any other one that no route uses is answered 501. */
const KNOWN_METHODS = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'QUERY',
  'TRACE',
  'CONNECT',
]);

/** The status of a request that no route has matched: 404, or 501 for a method unknown here (RFC 9110 §9.1). */
export function unmatchedStatus(method: string): number {
  return KNOWN_METHODS.has(method) ? 404 : 501;
}

export interface AnswerErrorOptions {
  /** Adds the stack, line by line, to the answer. Default false. */
  readonly includeStack?: boolean;
}

/**
 * Records `thrown` as the answer, in place of any other: an RFC 9457 problem. What a client must not
 * read of it (5xx: all but the reason phrase) goes to the log; 501 is the client's doing. What only
 * says that the deadline of the request has passed is a 503.
 */
export function recordError(
  ctx: RequestContext,
  thrown: unknown,
  options: AnswerErrorOptions = {},
): void {
  const error = isOverdue(ctx, thrown) ? overdue(thrown) : thrown;
  const status = statusOf(error);
  if (status >= 500 && status !== 501 && !isDeparture(ctx, error)) {
    ctx.log.error(
      `${ctx.method} ${ctx.path} failed with ${status} (request ${ctx.requestId})`,
      error,
    );
  }
  if (ctx.raw.res.headersSent) {
    ctx.raw.res.destroy(toError(error));
    return;
  }
  ctx.discardAnswer();
  const problem = problemOf(error, ctx.requestId);
  recordProblem(ctx, options.includeStack ? { ...problem, stack: stackOf(error) } : problem);
  for (const [name, value] of Object.entries(headersOf(error))) ctx.set(name, value);
}

/** What was thrown, as an error that destroys a response. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('Thrown: not an error', { cause: thrown });
}

/** Whether `error` only says that the request's deadline has passed; Node's own functions wrap that. */
function isOverdue(ctx: RequestContext, error: unknown): boolean {
  if (!(error instanceof Error) || !/^(?:Timeout|Abort)Error$/.test(error.name)) return false;
  const { reason } = ctx.signal;
  return reason?.name === 'TimeoutError' && (error === reason || error.cause === reason);
}

function overdue(cause: unknown): Error {
  const error = new Error('The deadline of the request passed', { cause });
  return Object.assign(error, { status: 503, expose: false, headers: { 'Retry-After': '1' } });
}

function recordProblem(ctx: RequestContext, problem: Problem): void {
  ctx.assignedStatus = problem.status;
  ctx.answeredBy = 'an error';
  ctx.answerType = 'application/problem+json';
  ctx.answerBody = JSON.stringify(problem);
}

/** Whether `error` only says that the client is gone, which nobody needs to hear of. */
function isDeparture(ctx: RequestContext, error: unknown): boolean {
  return ctx.raw.res.destroyed && error instanceof Error && error.name === 'AbortError';
}

/** Sends the response to an error in place of one that could not be written. */
type Fail = (ctx: RequestContext, error: unknown) => void;

/**
 * Writes what the request recorded; of one that recorded nothing, what its status and route say. A
 * stream that fails before its first chunk is left to `fail`.
 */
export function writeAnswer(ctx: RequestContext, fail: Fail): void {
  const { res } = ctx.raw;
  if (!res.headersSent) {
    if (ctx.answeredBy === '') recordSilence(ctx);
    const status = ctx.status;
    if (status === 204 || status === 205 || status === 304) writeEmpty(ctx, status);
    else writeBody(ctx, status, fail);
  }
  ctx.finished = true;
}

function recordSilence(ctx: RequestContext): void {
  if (ctx.assignedStatus === 0) {
    ctx.assignedStatus = ctx.route ? 204 : unmatchedStatus(ctx.method);
  }
  if (ctx.assignedStatus >= 400) {
    recordProblem(ctx, problemOfStatus(ctx.assignedStatus, ctx.requestId));
  }
}

/** 204, 205 and 304 have neither a body nor a type of one (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
function writeEmpty(ctx: RequestContext, status: number): void {
  ctx.deleteHeader('content-type');
  ctx.deleteHeader('content-length');
  if (status === 205) ctx.answerHeaders.push('Content-Length', '0');
  writeHead(ctx.raw.res, status, ctx.answerHeaders);
  ctx.raw.res.end();
  if (isStream(ctx.answerBody)) ctx.answerBody.destroy();
}

function writeBody(ctx: RequestContext, status: number, fail: Fail): void {
  const { answerHeaders: headers, answerBody: body } = ctx;
  let type = ctx.answerType;
  if (headers.length > 0) {
    ctx.deleteHeader('content-length');
    if (ctx.hasHeader('content-type')) type = '';
  }
  if (isStream(body)) writeStream(ctx, status, type, octetsOf(body), fail);
  else sendWhole(ctx.raw.res, { status, headers, type, body });
}

/** `stream` as octets: of a stream of objects, a chunk that is none makes it fail. */
function octetsOf(stream: Readable): Readable {
  if (!stream.readableObjectMode) return stream;
  return pipeline(
    stream,
    new PassThrough({ writableObjectMode: true, writableHighWaterMark: 1 }),
    () => {},
  );
}

/** Sends `body` from its first chunk on: until then, an error can still be the response. */
function writeStream(
  ctx: RequestContext,
  status: number,
  type: string,
  body: Readable,
  fail: Fail,
): void {
  const { res } = ctx.raw;
  if (res.destroyed) {
    body.destroy();
    return;
  }
  whenReadable(body, res, (error) => {
    if (res.destroyed) body.destroy();
    else if (error) fail(ctx, error);
    else {
      const headers = [...ctx.answerHeaders];
      if (type !== '') headers.push('Content-Type', type);
      if (ctx.streamLength >= 0) headers.push('Content-Length', String(ctx.streamLength));
      writeHead(res, status, headers);
      sendStream(ctx, body);
    }
  });
}

/** Calls `done` once `body` has a chunk or has ended, has failed, or the client has left. */
function whenReadable(
  body: Readable,
  res: ServerResponse,
  done: (error?: Error | null) => void,
): void {
  const settle = (error?: Error | null) => {
    body.off('readable', onReadable);
    res.off('close', onReadable);
    stopWatching();
    done(error);
  };
  const onReadable = () => settle();
  const stopWatching = finished(body, { writable: false }, settle);
  body.on('readable', onReadable);
  res.on('close', onReadable);
}

function sendStream(ctx: RequestContext, body: Readable): void {
  const { res } = ctx.raw;
  if (ctx.method === 'HEAD') {
    body.destroy();
    res.end();
    return;
  }
  pipeline(body, res, (error) => {
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
      ctx.log.error(`${ctx.method} ${ctx.path}: the stream of the response failed`, error);
    }
  });
}
