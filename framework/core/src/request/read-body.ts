import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { type BodyReceiver, IncomingRequest } from '../node/incoming-request.ts';
import { BadRequestError, PayloadTooLargeError } from '../response/http-error.ts';
import { type WarnedRequest, warnOfRoute } from '../warnings.ts';

/** Default maximum of the body of a request, in bytes. */
export const BODY_LIMIT_BYTES = 1024 ** 2;

/** How much of a rejected body is read and discarded, so that the client can read the response. */
const DISCARD_BYTES = 16 * 1024 ** 2;

const EMPTY = Buffer.alloc(0);

/** The error for a body of more than `limitBytes`. */
export function bodyTooLarge(limitBytes: number): PayloadTooLargeError {
  return new PayloadTooLargeError(`The body must have at most ${limitBytes} bytes`);
}

/** A request has a body if it announces one (RFC 9112 §6.3). GET and HEAD have none that is read. */
export function hasBody({ method, headers }: IncomingMessage): boolean {
  if (method === 'GET' || method === 'HEAD') return false;
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] !== undefined : length !== '0';
}

const streamed = new WeakSet<IncomingMessage>();

/** Records that `ctx.stream()` has the body of `req`; returns whether this is the first call. */
export function markStreamed(req: IncomingMessage): boolean {
  const isFirst = !streamed.has(req);
  streamed.add(req);
  return isFirst;
}

/**
 * Whether the body was read to its end.
 *
 * @throws {TypeError} if `ctx.stream()` has the body: no parser can read it too
 */
export function isBodyRead(req: IncomingMessage): boolean {
  if (!streamed.has(req)) return req.readableEnded;
  throw new TypeError(
    `Cannot parse the body of ${req.method} ${req.url}: ctx.stream() has it; use no body parser for this route`,
  );
}

/** Whether a body parser or another reader has started to read the body, which it may have finished. */
export function isReadStarted(req: IncomingMessage): boolean {
  const hasReceiver = req instanceof IncomingRequest && req.hasReceiver;
  return hasReceiver || req.readableDidRead || req.readableEnded;
}

/**
 * Checks that the whole body will arrive, as bytes.
 *
 * @throws {TypeError} if some of it went to another reader
 * @throws {BadRequestError} if the client has left
 */
function requireWholeBody(req: IncomingMessage): void {
  if (isReadStarted(req)) {
    throw unreadable(req, 'it was already read; use one reader for each route');
  }
  if (req.readableEncoding !== null) {
    throw unreadable(req, 'req.setEncoding() decodes it to text; remove that call');
  }
  if (req.destroyed) throw clientDisconnected();
}

function unreadable({ method, url }: IncomingMessage, reason: string): TypeError {
  return new TypeError(`Cannot read the body of ${method} ${url}: ${reason}`);
}

/**
 * Passes a body to `receiver`: directly from Node's parser, or by the events of the stream if it is decoded, has
 * arrived before, or belongs to another server.
 */
export function passBody(body: Readable, receiver: BodyReceiver): void {
  if (body instanceof IncomingRequest && body.passBodyTo(receiver)) return;
  const onData = (chunk: Buffer) => {
    if (!receiver.add(chunk)) body.pause();
  };
  const onError = (cause: Error) => receiver.fail(cause);
  const onEnd = () => {
    // V8 may have placed Node's list of listeners among old objects, where it would keep this request alive.
    body.off('data', onData).off('end', onEnd).off('error', onError);
    receiver.end();
  };
  body.on('data', onData).on('end', onEnd).on('error', onError);
}

interface ReadBodyOptions {
  readonly limitBytes: number;
  /** The decoded body of a request with a content coding: the limit applies to this stream. */
  readonly decoded?: Readable | undefined;
}

/**
 * Reads the body of a request, of at most `limitBytes`. Rejects with a `TypeError` if another reader has
 * begun, and with an `HttpError` if the body is too large or the client disconnects. A client that
 * expects `100 Continue` gets it here (RFC 9110 §10.1.1). Bodies of more than 16 KiB are returned one
 * per turn of the event loop, because parsing a large one can take 100 ms.
 *
 * The result is a promise and not a callback, because a body arrives in the asynchronous context of the
 * connection: only a continuation of a promise keeps the `AsyncLocalStorage` of the request.
 */
export function readBody(
  req: IncomingMessage,
  res: ServerResponse,
  { limitBytes, decoded = req }: ReadBodyOptions,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    new BodyReader({ req, res, limitBytes, decoded, resolve, reject }).start();
  });
}

interface Reading {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly limitBytes: number;
  /** `req`, unless it has a content coding. */
  readonly decoded: Readable;
  readonly resolve: (body: Buffer) => void;
  readonly reject: (error: Error) => void;
}

/** Collects the chunks of one body. */
class BodyReader implements BodyReceiver {
  readonly #reading: Reading;
  readonly #memory: BodyMemory;
  /** The announced size; 0 if it is unknown. */
  readonly #length: number;
  #bytes: Buffer = EMPTY;
  /** Infinite after the body was rejected. */
  #size = 0;

  constructor(reading: Reading) {
    const { req, decoded } = reading;
    this.#reading = reading;
    this.#memory = new BodyMemory(req);
    this.#length = decoded === req ? Number(req.headers['content-length'] ?? 0) : 0;
  }

  start(): void {
    const { req, res, decoded, limitBytes } = this.#reading;
    requireWholeBody(req);
    const isTooLarge = this.#length > limitBytes;
    const error = isTooLarge ? bodyTooLarge(limitBytes) : this.#memory.reserve(this.#length);
    if (error) {
      this.#reject(error);
      return;
    }
    passBody(decoded, this);
    if (decoded !== req) req.on('error', (cause) => this.fail(cause));
    sendContinue(req, res);
  }

  add(chunk: Buffer): boolean {
    const { limitBytes } = this.#reading;
    const start = this.#size;
    if (start > limitBytes) return true;
    const size = start + chunk.length;
    const error = size > limitBytes ? bodyTooLarge(limitBytes) : this.#memory.reserve(size);
    if (error) {
      this.#reject(error);
      return true;
    }
    const capacity = Math.min(2 * size, this.#length || limitBytes);
    this.#bytes = start === 0 ? chunk : append(chunk, this.#bytes, start, capacity);
    this.#size = size;
    return true;
  }

  end(): void {
    const { req, decoded, limitBytes } = this.#reading;
    if (this.#size > limitBytes) return;
    if (decoded !== req) this.#discard(); // data may follow the end of the compressed data
    if (this.#size > SMALL_BYTES) inTurn(() => this.#finish());
    else this.#finish();
  }

  fail(cause: Error): void {
    this.#reject(bodyUnreadable(cause));
  }

  #finish(): void {
    const { res, resolve } = this.#reading;
    if (res.destroyed) {
      this.#reject(new DOMException('The response has ended', 'AbortError'));
      return;
    }
    const bytes = this.#bytes;
    this.#memory.release();
    resolve(bytes.length === this.#size ? bytes : bytes.subarray(0, this.#size));
  }

  #reject(error: Error): void {
    this.#size = Number.POSITIVE_INFINITY;
    this.#bytes = EMPTY;
    this.#memory.release();
    this.#discard();
    this.#reading.reject(error);
  }

  #discard(): void {
    const { req, decoded } = this.#reading;
    if (decoded !== req) {
      req.unpipe();
      decoded.destroy(); // it may still contain data that decodes to a thousand times its size
    }
    discardRest(req);
  }
}

/**
 * Copies `chunk` after the first `start` of `bytes`, into a new buffer of `capacity` if there is no room.
 * If each chunk had one byte, a list of them would need a hundred times the memory.
 */
function append(chunk: Buffer, bytes: Buffer, start: number, capacity: number): Buffer {
  let target = bytes;
  if (start + chunk.length > bytes.length) {
    target = Buffer.allocUnsafe(Math.max(capacity, start + chunk.length));
    bytes.copy(target, 0, 0, start);
  }
  chunk.copy(target, start);
  return target;
}

const waiting: (() => void)[] = [];

/** Calls one waiting `finish` in each turn of the event loop. */
function inTurn(finish: () => void): void {
  if (waiting.push(finish) === 1) setImmediate(finishNext);
}

function finishNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(finishNext);
}

/** Asks a client that expects `100 Continue` for its body (RFC 9110 §10.1.1); HTTP/1.0 has no such responses. */
export function sendContinue(req: IncomingMessage, res: ServerResponse): void {
  if (req.headers.expect !== undefined && req.httpVersionMinor > 0) res.writeContinue();
}

/** Reads and discards the rest of a body; one of more than 16 MiB ends the connection. */
export function discardRest(req: IncomingMessage): void {
  let discarded = 0;
  if (req instanceof IncomingRequest) req.stopPassing();
  req.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > DISCARD_BYTES) req.destroy();
  });
  req.on('error', () => {});
  req.resume(); // a request that was piped is paused, and the connection would wait for it forever
}

/** The error for a body that ended early or has an invalid content coding. */
export function bodyUnreadable(cause: Error): BadRequestError {
  return new BadRequestError('The body ended early or could not be decoded', { cause });
}

/** The error for a body whose client has left. */
export function clientDisconnected(): BadRequestError {
  return bodyUnreadable(new Error('The client has disconnected'));
}

/** Bodies up to this size are neither counted nor delayed: the number of requests limits them. */
const SMALL_BYTES = 16 * 1024;

/**
 * Counts the bytes of bodies that are received and not yet parsed: that of one request changes from
 * `fromBytes` to `toBytes`. Returns the error of the request, and counts nothing, if there is not
 * enough memory; making a body smaller never fails.
 */
export type CountBodyBytes = (fromBytes: number, toBytes: number) => Error | undefined;

const counters = new WeakMap<IncomingMessage, CountBodyBytes>();

/** Counts the body of `req` with `count` while it is read. */
export function countBody(req: IncomingMessage, count: CountBodyBytes): void {
  counters.set(req, count);
}

/** The memory that the body of one request occupies until it is parsed. */
export class BodyMemory {
  readonly #req: IncomingMessage;
  #bytes = 0;
  #isReleased = false;

  constructor(req: IncomingMessage) {
    this.#req = req;
  }

  /** Raises what is reserved to `bytes` in total; returns the error if there is not enough memory. */
  reserve(bytes: number): Error | undefined {
    if (this.#isReleased || bytes <= Math.max(this.#bytes, SMALL_BYTES)) return undefined;
    const error = counters.get(this.#req)?.(this.#bytes, bytes);
    if (!error) this.#bytes = bytes;
    return error;
  }

  /** Releases all that was reserved; later calls of `reserve` have no effect. */
  release(): void {
    if (this.#bytes > 0) counters.get(this.#req)?.(this.#bytes, 0);
    this.#bytes = 0;
    this.#isReleased = true;
  }
}

/** Whether `hasParsedBody` is reading `ctx.body`: that causes no warning. */
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

/** A request whose body may be missing. */
interface UnparsedRequest extends WarnedRequest {
  readonly raw: { readonly req: IncomingMessage };
  body: unknown;
}

/** In development: warns once per route that reads `ctx.body` of a request whose body nothing has parsed. */
export function warnOfUnparsedBody(ctx: UnparsedRequest): void {
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
