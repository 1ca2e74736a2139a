import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

import { BadRequestError, PayloadTooLargeError } from '../response/http-error.ts';

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

export interface ReadBodyOptions {
  readonly limitBytes: number;
  /** The decoded body of a request with a content coding: the limit applies to this stream. */
  readonly decoded?: Readable | undefined;
}

/**
 * Reads the body of a request, of at most `limitBytes`. A client that expects `100 Continue` gets it
 * here (RFC 9110 §10.1.1).
 *
 * The result is a promise and not a callback, because stream events run in the asynchronous context of
 * the connection: only a continuation of a promise keeps the `AsyncLocalStorage` of the request.
 */
export function readBody(
  req: IncomingMessage,
  res: ServerResponse,
  { limitBytes, decoded = req }: ReadBodyOptions,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let size = 0;
    const discard = () => {
      if (decoded !== req) {
        req.unpipe();
        decoded.destroy(); // it may still contain data that decodes to a thousand times its size
      }
      discardRest(req);
    };
    const fail = (error: Error) => {
      size = Number.POSITIVE_INFINITY;
      discard();
      reject(error);
    };
    decoded.on('data', (chunk: Buffer) => {
      if (size > limitBytes) return;
      size += chunk.length;
      if (size > limitBytes) fail(bodyTooLarge(limitBytes));
      else if (first === undefined) first = chunk;
      else {
        more ??= [first];
        more.push(chunk);
      }
    });
    decoded.on('end', () => {
      if (size > limitBytes) return; // rejected
      if (decoded !== req) discard(); // data may follow the end of the compressed data
      resolve(more ? Buffer.concat(more, size) : (first ?? EMPTY));
    });
    decoded.on('error', (error: Error) => fail(bodyUnreadable(error)));
    if (decoded !== req) req.on('error', (error) => fail(bodyUnreadable(error)));
    sendContinue(req, res);
  });
}

/** Asks a client that expects `100 Continue` for its body (RFC 9110 §10.1.1); HTTP/1.0 has no such responses. */
export function sendContinue(req: IncomingMessage, res: ServerResponse): void {
  if (req.headers.expect !== undefined && req.httpVersionMinor > 0) res.writeContinue();
}

/** Reads and discards the rest of a body up to a bound, then closes the connection. */
export function discardRest(req: IncomingMessage): void {
  let discarded = 0;
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
