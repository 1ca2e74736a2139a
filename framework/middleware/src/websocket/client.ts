import type { Context, Parts } from '@fw/core';
import type { StandardSchema } from '@fw/core/schema';

/** One connected client. */
export interface WebSocketClient<P extends Parts = Parts> {
  /** The request: path parameters, query, and what guards have added to `state`. It has no response. */
  readonly ctx: Context<P>;
  /**
   * Sends a string or bytes unchanged, any other value as JSON. Returns whether it will be sent: not to
   * a client that has disconnected, or that reads too slowly and is therefore disconnected.
   *
   * @throws {TypeError} if `message` has no JSON form
   */
  send(message: unknown): boolean;
  /**
   * Sends a close frame and receives no further message. Default code 1000; `reason` has at most 123 bytes.
   *
   * @throws if the code is not one that a program may send (RFC 6455 §7.4) or `reason` is too long
   */
  close(code?: number, reason?: string): void;
}

/** A message: the output of the schema; without a schema, a text message as a string, a binary one as bytes. */
export type MessageOf<Schema> =
  Schema extends StandardSchema<unknown, infer Output> ? Output : string | Uint8Array;

/** What a route does with its clients. */
export interface WebSocketHandlers<P extends Parts, Schema> {
  /** Parses and validates messages, which must be JSON text. Default: messages are not parsed. */
  readonly schema?: Schema;
  /** Called when a client has connected, before its first message. */
  readonly open?: (client: WebSocketClient<P>) => unknown;
  /**
   * Called for each message, in order: a promise delays the next message of this client, and stops
   * reading from it.
   */
  readonly message?: (client: WebSocketClient<P>, message: MessageOf<Schema>) => unknown;
  /** Called when the client has disconnected; 1006 is a connection that broke (RFC 6455 §7.4.1). */
  readonly close?: (client: WebSocketClient<P>, code: number) => unknown;
}
