import type { ServerResponse } from 'node:http';
import { finished, PassThrough, pipeline, type Readable, type Writable } from 'node:stream';

import { hasRun } from '../compose.ts';
import type { Context } from '../context.ts';
import { TrackedResponse } from '../node/tracked-response.ts';
import { type RequestContext, recordOf, type SentListener } from '../request-context.ts';
import { isStream } from './body.ts';
import { sendComplete, writeHead } from './head.ts';
import { recordError, recordProblemOfStatus, toError } from './record-error.ts';
import { unmatchedStatus } from './status.ts';

/** Writes the response once all middleware has run. */
export function writeWhenDone(ctx: RequestContext, running: Promise<void>): void {
  if (hasRun(running)) {
    complete(ctx);
    return;
  }
  running.then(
    () => complete(ctx),
    (error: unknown) => fail(ctx, error),
  );
}

function complete(ctx: RequestContext): void {
  try {
    writeResponse(ctx);
  } catch (error) {
    fail(ctx, error);
    return;
  }
  reportSent(ctx);
}

/** Responds to an error that no middleware caught. */
function fail(ctx: RequestContext, error: unknown): void {
  try {
    try {
      recordError(ctx, error);
    } catch (unwritable) {
      recordError(ctx, unwritable); // the headers or issues of the error are invalid
    }
    writeResponse(ctx);
  } catch (failure) {
    ctx.log.error(`${ctx.method} ${ctx.path} failed without a response`, failure);
    ctx.raw.res.destroy(toError(failure));
  }
  reportSent(ctx);
}

/** Writes the recorded response, or the default one if none was recorded. */
function writeResponse(ctx: RequestContext): void {
  if (!ctx.raw.res.headersSent) {
    if (ctx.respondedBy === '') recordDefault(ctx);
    const { status } = ctx;
    if (status === 101) ctx.upgrade?.();
    else if (status === 204 || status === 205 || status === 304) writeEmpty(ctx, status);
    else writeBody(ctx, status);
  } else if (isStream(ctx.responseBody)) {
    ctx.responseBody.destroy(); // the middleware has sent another response with `ctx.raw`
  }
  ctx.isWritten = true;
}

/** Without a response: 204 if a route matched, else 404 or 501; a problem if the status is an error. */
function recordDefault(ctx: RequestContext): void {
  ctx.assignedStatus = ctx.decidedStatus || (ctx.route ? 204 : unmatchedStatus(ctx.method));
  if (ctx.assignedStatus >= 400) recordProblemOfStatus(ctx);
}

/** 204, 205 and 304 have no body and no `Content-Type` (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
function writeEmpty(ctx: RequestContext, status: number): void {
  ctx.deleteHeader('content-type');
  ctx.deleteHeader('content-length');
  if (status === 205) ctx.responseHeaders.push('Content-Length', '0');
  writeHead(ctx.raw.res, status, ctx.responseHeaders);
  ctx.raw.res.end();
  if (isStream(ctx.responseBody)) ctx.responseBody.destroy();
}

function writeBody(ctx: RequestContext, status: number): void {
  const { responseHeaders: headers, responseBody: body } = ctx;
  let type = ctx.responseType;
  if (headers.length > 0) {
    ctx.deleteHeader('content-length');
    if (ctx.hasHeader('content-type')) type = '';
  }
  if (isStream(body)) writeStream(ctx, { status, type, body: toBytes(body) });
  else sendComplete(ctx.raw.res, { status, headers, type, body });
}

/** `stream` as bytes. A stream of objects fails at a chunk that is neither text nor bytes. */
function toBytes(stream: Readable): Readable {
  if (!stream.readableObjectMode) return stream;
  const bytes = new PassThrough({ writableObjectMode: true, writableHighWaterMark: 1 });
  pipeline(stream, bytes, () => {});
  takeTurns(stream, bytes);
  return bytes;
}

interface StreamedResponse {
  readonly status: number;
  readonly type: string;
  readonly body: Readable;
}

/** Sends the head with the first chunk of the body: until then, an error can still be the response. */
function writeStream(ctx: RequestContext, response: StreamedResponse): void {
  const { status, type, body } = response;
  const { res } = ctx.raw;
  if (res.destroyed) {
    body.destroy();
    return;
  }
  whenReadable(body, res, (error) => {
    if (res.destroyed || res.headersSent) body.destroy();
    else if (error) fail(ctx, error);
    else {
      const headers = [...ctx.responseHeaders];
      if (type !== '') headers.push('Content-Type', type);
      if (ctx.streamLength >= 0) headers.push('Content-Length', String(ctx.streamLength));
      writeHead(res, status, headers);
      sendStream(ctx, body);
    }
  });
}

/** Calls `done` once `body` has a chunk, ends or fails, or the client disconnects. */
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
  res.once('close', () => body.destroy());
  finished(body, { writable: false }, (error) => {
    if (!error) return;
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
      ctx.log.error(`${ctx.method} ${ctx.path}: the response stream failed`, error);
    }
    res.destroy(error);
  });
  body.pipe(res);
  takeTurns(body, res);
}

/** How many chunks of a stream are sent before other requests can run. */
const CHUNKS_PER_TURN = 16;

/** Pauses a stream that always has a chunk: promises alone never let the process read other requests. */
function takeTurns(source: Readable, target: Writable): void {
  let chunks = 0;
  source.on('data', () => {
    chunks++;
    if (chunks % CHUNKS_PER_TURN !== 0) return;
    source.pause();
    setImmediate(() => {
      if (!target.writableNeedDrain) source.resume(); // otherwise the event `drain` does it
    });
  });
}

/** The status that nginx logs for a client that disconnected before its response was complete. */
const CLIENT_CLOSED = 499;

/**
 * Calls `listener` once, with the status of the response when it was sent completely: immediately if it
 * already was. The status is 499 if the client disconnected before, and 500 if the response failed
 * halfway. An event stream has no end: it was sent when its client disconnects.
 */
export function onSent(ctx: Context, listener: SentListener): void {
  const context = recordOf(ctx);
  context.sentListeners = [...context.sentListeners, listener];
  if (context.isWritten) reportSent(context);
}

/**
 * Calls the listeners of `ctx` once its response is sent: immediately if the socket has accepted all
 * data, as it does for almost every small response, else when the response closes.
 */
function reportSent(ctx: RequestContext): void {
  if (ctx.sentListeners.length === 0) return;
  const { res } = ctx.raw;
  const isComplete = res.writableEnded ? res.writableLength === 0 : ctx.assignedStatus === 101;
  if (res.destroyed || isComplete) report(ctx);
  else res.once('close', () => report(ctx));
}

function report(ctx: RequestContext): void {
  const status = sentStatus(ctx);
  const listeners = ctx.sentListeners;
  ctx.sentListeners = []; // each listener runs once, even if an error follows
  for (const listener of listeners) {
    try {
      listener(status);
    } catch (error) {
      ctx.log.error('A listener failed after the response was sent', error);
    }
  }
}

function sentStatus({ raw: { res } }: RequestContext): number {
  if (res.writableFinished || !res.destroyed) return res.statusCode;
  // If a connection closes, Node destroys its pipelined responses with an error too; they have no socket.
  if (res.errored && res.socket) return 500;
  const isEventStream = res instanceof TrackedResponse && res.isEventStream;
  return isEventStream ? res.statusCode : CLIENT_CLOSED;
}
