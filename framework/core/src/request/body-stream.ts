import { Readable } from 'node:stream';

import type { BodyStream, Context, StreamOptions } from '../context.ts';
import { type BodyReceiver, IncomingRequest } from '../node/incoming-request.ts';
import { aWholeNumber, readOptions, required } from '../options.ts';
import {
  bodyTooLarge,
  bodyUnreadable,
  clientDisconnected,
  discardRest,
  hasBody,
  isReadStarted,
  markStreamed,
  passBody,
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
  const { req } = ctx.raw;
  const isRead = hasBody(req) && isReadStarted(req);
  if (isRead || !markStreamed(req)) {
    throw new TypeError(
      `Cannot stream the body of ${ctx.method} ${ctx.path}: it was already read; use no body parser for this route, and call ctx.stream() once`,
    );
  }
  const body = new RequestBody(ctx, limit);
  if (!hasBody(req)) {
    body.push(null);
    return body;
  }
  if (Number(req.headers['content-length'] ?? 0) > limit) {
    discardRest(req);
    throw bodyTooLarge(limit);
  }
  body.start();
  return body;
}

/** Cheaper than `pipe` to a Transform, which has a writable side too. */
class RequestBody extends Readable implements BodyReceiver {
  readonly #ctx: Context;
  readonly #limit: number;
  #size = 0;
  #signal: AbortSignal | undefined;

  constructor(ctx: Context, limit: number) {
    super();
    this.#ctx = ctx;
    this.#limit = limit;
    this.on('error', () => {}); // the handler may have stopped reading
  }

  start(): void {
    const { raw } = this.#ctx;
    raw.res.once('close', () => this.#onResponseEnd()); // before the signal aborts for the same reason
    const { signal } = this.#ctx;
    this.#signal = signal;
    signal.addEventListener('abort', this.#abort);
    if (signal.aborted) this.#abort();
    sendContinue(raw.req, raw.res);
    passBody(raw.req, this);
  }

  add(chunk: Buffer): boolean {
    if (this.destroyed) return true; // the rest is discarded
    this.#size += chunk.length;
    if (this.#size <= this.#limit) return this.push(chunk);
    this.destroy(bodyTooLarge(this.#limit));
    return true;
  }

  end(): void {
    this.push(null);
  }

  fail(cause: Error): void {
    this.destroy(bodyUnreadable(cause));
  }

  override _read(): void {
    const { req } = this.#ctx.raw;
    if (req instanceof IncomingRequest) req.resumeBody();
    else req.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const { req } = this.#ctx.raw;
    this.#signal?.removeEventListener('abort', this.#abort);
    if (!req.readableEnded) discardRest(req);
    done(error);
  }

  readonly #abort = () => this.destroy(this.#signal?.reason);

  #onResponseEnd(): void {
    if (this.destroyed) return; // an error without use would cost a stack trace per request
    this.destroy(
      this.#ctx.raw.res.writableFinished
        ? new Error('The response was sent before its request body')
        : clientDisconnected(),
    );
  }
}
