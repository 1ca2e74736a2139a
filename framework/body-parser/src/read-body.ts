import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

import { BadRequestError, PayloadTooLargeError } from '@fw/errors';

/** How much of a body that was refused is read and thrown away, so that the client can read why. */
const DISCARD_BYTES = 16 * 1024 ** 2;

export type BodyCallback = (error: Error | undefined, body: Buffer) => void;

const EMPTY = Buffer.alloc(0);

export function tooLarge(limitBytes: number): PayloadTooLargeError {
  return new PayloadTooLargeError(`The body must have at most ${limitBytes} bytes`);
}

/**
 * Collects the body of a request, of at most `limitBytes`, and calls back once. A client that waits
 * for leave to send its body gets it here (RFC 9110 §10.1.1). `decoded` is what comes out of the
 * request, if it has a content coding: the limit counts that.
 */
export function readBody(
  req: IncomingMessage,
  res: ServerResponse,
  {
    limitBytes,
    decoded = req,
  }: { readonly limitBytes: number; readonly decoded?: Readable | undefined },
  callback: BodyCallback,
): void {
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let size = 0;
  let isDone = false;
  const finish = (error: Error | undefined, body: Buffer) => {
    if (isDone) return;
    isDone = true;
    callback(error, body);
  };
  const collect = (chunk: Buffer) => {
    if (isDone) return;
    size += chunk.length;
    if (size > limitBytes) {
      if (decoded !== req) {
        req.unpipe();
        decoded.destroy(); // what it holds may be a thousand times as long decoded
      }
      discardRest(req);
      finish(tooLarge(limitBytes), EMPTY);
    } else if (first === undefined) {
      first = chunk;
    } else {
      more ??= [first];
      more.push(chunk);
    }
  };
  decoded.on('data', collect);
  decoded.on('end', () => finish(undefined, more ? Buffer.concat(more, size) : (first ?? EMPTY)));
  decoded.on('error', (error: Error) => finish(unreadable(error), EMPTY));
  if (decoded !== req) req.on('error', (error) => finish(unreadable(error), EMPTY));
  if (req.headers.expect !== undefined) res.writeContinue();
}

/** Reads on for a while without keeping anything; then hangs up. */
export function discardRest(req: IncomingMessage): void {
  let discarded = 0;
  req.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > DISCARD_BYTES) req.destroy();
  });
  req.on('error', () => {});
}

function unreadable(cause: Error): BadRequestError {
  return new BadRequestError('The body ended early or could not be decoded', { cause });
}
