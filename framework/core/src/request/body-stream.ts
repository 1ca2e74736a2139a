import { Readable } from 'node:stream';

import type { BodyStream, Context, StreamOptions } from '../context.ts';
import { aWholeNumber, readOptions, required } from '../options.ts';
import {
  bodyTooLarge,
  bodyUnreadable,
  clientDisconnected,
  discardRest,
  hasBody,
  isReadStarted,
  markStreamed,
  sendContinue,
} from './read-body.ts';

/**
 * The body of a request as a stream, which is destroyed when the request is aborted or its response was
 * sent. A client that expects `100 Continue` gets it here (RFC 9110 §10.1.1).
 *
 * @throws {TypeError} if the limit is invalid, or the body was already read
 * @throws {PayloadTooLargeError} if the client announces a larger body
 */
export function streamBody(ctx: Context, options: StreamOptions): BodyStream {
  const { limit } = readOptions('ctx.stream()', options, {
    limit: required(aWholeNumber(1, Number.MAX_SAFE_INTEGER)),
  });
  const { req, res } = ctx.raw;
  const isRead = hasBody(req) && isReadStarted(req);
  if (isRead || !markStreamed(req)) {
    throw new TypeError(
      `Cannot stream the body of ${ctx.method} ${ctx.path}: it was already read; use no body parser for this route, and call ctx.stream() once`,
    );
  }
  let size = 0;
  // Cheaper than `pipe` to a Transform, which has a writable side too.
  const body = new Readable({
    read() {
      req.resume();
    },
    destroy(error, done) {
      ctx.signal.removeEventListener('abort', abort);
      req.off('data', forward);
      if (!req.readableEnded) discardRest(req);
      done(error);
    },
  });
  const forward = (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) body.destroy(bodyTooLarge(limit));
    else if (!body.push(chunk)) req.pause();
  };
  const abort = () => body.destroy(ctx.signal.reason);
  body.on('error', () => {}); // the handler may have stopped reading
  if (!hasBody(req)) {
    body.push(null);
    return body;
  }
  if (Number(req.headers['content-length'] ?? 0) > limit) {
    discardRest(req);
    throw bodyTooLarge(limit);
  }
  req.on('error', (error) => body.destroy(bodyUnreadable(error)));
  res.once('close', () => {
    if (body.destroyed) return; // an error without use would cost a stack trace per request
    body.destroy(
      res.writableFinished
        ? new Error('The response was sent before its request body')
        : clientDisconnected(),
    );
  });
  ctx.signal.addEventListener('abort', abort);
  if (ctx.signal.aborted) abort();
  sendContinue(req, res);
  req.on('data', forward);
  req.on('end', () => body.push(null));
  return body;
}
