import type { IncomingMessage } from 'node:http';

/** Bodies up to this size are neither counted nor delayed: the number of requests limits them. */
export const SMALL_BYTES = 16 * 1024;

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

  /** Reserves `bytes` in total, at least what is reserved; returns the error if there is not enough memory. */
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
