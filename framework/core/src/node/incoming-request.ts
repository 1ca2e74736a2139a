import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import { http, usesPrivateFields } from './http.ts';

/**
 * Receives a body from the parser of Node. An interface instead of a function: V8 allocates a function that is
 * assigned to a property among old objects, where it would keep the request in memory until the next full
 * garbage collection.
 */
export interface BodyReceiver {
  /** Returns false to get no more until `resumeBody()`, except for what has already arrived. */
  add(chunk: Buffer): boolean;
  end(): void;
  /** The connection was closed, or the request destroyed, before the end. */
  fail(cause: Error): void;
}

/** The property of a connection that has its last request. */
const LAST = Symbol('lastRequest');

interface Connection {
  [LAST]?: IncomingMessage | undefined;
}

/** Records `req` as the last request on its connection. */
export function rememberRequest(req: IncomingMessage): void {
  (req.socket as Connection)[LAST] = req;
}

/** Whether the body of the last request on this connection has not arrived completely. */
export function hasIncompleteRequest(socket: Duplex): boolean {
  return (socket as Connection)[LAST]?.complete === false;
}

/** Releases the memory of a request that has its response, unless the rest of its body is still expected. */
export function forgetRequest({ socket, complete }: IncomingMessage): void {
  if (complete) (socket as Connection)[LAST] = undefined;
}

/** Whether Node's parser passes bodies to `push()`: unknown until the first body, which is read as a stream. */
let parserCallsPush = false;

/**
 * A request that can pass its body to a receiver without the buffer and the events of a stream: these take a
 * tenth of the time of a small POST request.
 */
export class IncomingRequest extends http.IncomingMessage {
  #receiver: BodyReceiver | undefined;
  /** Whether a receiver was accepted, also after the body has ended. */
  hasReceiver = false;

  /**
   * Passes the body to `receiver`, and to readers that begin later. Returns false if it is too late: data
   * has arrived, the body has ended, another reader has begun, or the request was destroyed.
   */
  passBodyTo(receiver: BodyReceiver): boolean {
    if (!parserCallsPush) return false;
    const isUnread = this.readableFlowing === null && this.readableLength === 0;
    if (!isUnread || this.hasReceiver || this.complete || this.destroyed) return false;
    this.#receiver = receiver;
    this.hasReceiver = true;
    this.read(0); // starts the body in other runtimes; in Node, an early response would discard an unread body
    return true;
  }

  /** The rest of the body is read as a stream. */
  stopPassing(): void {
    if (this.#receiver === undefined) return;
    this.#receiver = undefined;
    this._read(0); // the receiver may have paused it
  }

  /** Continues a body that was paused. */
  resumeBody(): void {
    if (this.#receiver === undefined) this.resume();
    else this._read(0);
  }

  /** The parser calls this with each chunk, then with `null`. Chunks are buffers, except in Deno. */
  override push(chunk: Uint8Array | null, encoding?: BufferEncoding): boolean {
    const receiver = this.#receiver;
    if (receiver === undefined) {
      if (chunk !== null) parserCallsPush = usesPrivateFields;
      return super.push(chunk, encoding);
    }
    if (chunk !== null) {
      if (this.readableFlowing !== null) super.push(chunk, encoding); // to a reader that began later
      return receiver.add(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
    }
    this.#receiver = undefined;
    super.push(null);
    this.read(); // `end` is emitted before the promise of the reader continues
    receiver.end();
    return true;
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    super._destroy(error, done);
    receiver?.fail(error ?? new Error('The request was destroyed'));
  }
}
