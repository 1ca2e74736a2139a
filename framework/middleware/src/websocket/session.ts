import { AsyncResource } from 'node:async_hooks';

import type { Context, Parts } from '@fw/core';
import { parseJson } from '@fw/core/body';
import { isThenable, stringify, type UpgradedConnection } from '@fw/core/extension';
import type { SchemaIssue, StandardSchema } from '@fw/core/schema';

import type { MessageOf, WebSocketClient, WebSocketHandlers } from './client.ts';
import { type ClientSocket, type SocketListener, WebSocket } from './socket.ts';

function sendPing(session: { ping(): void }): void {
  session.ping();
}

function endOfAge(client: WebSocketClient): void {
  client.close(1001, 'The connection has reached its largest age');
}

/** What the clients of a route share. */
export interface WebSocketRoute<P extends Parts, Schema> {
  readonly handlers: WebSocketHandlers<P, Schema>;
  readonly maxMessagesPerSecond: number;
  readonly maxUnsentBytes: number;
  /** Time between pings; 0: none. */
  readonly pingMs: number;
  /** Called when a client has disconnected. */
  readonly release: () => void;
}

/** One client and its handlers, which run one after the other. */
export class WebSocketSession<P extends Parts, Schema extends StandardSchema | undefined>
  implements WebSocketClient<P>, UpgradedConnection, SocketListener
{
  readonly ctx: Context<P>;
  readonly #route: WebSocketRoute<P, Schema>;
  /** The asynchronous context of the request, in which the handlers run. */
  readonly #scope = new AsyncResource('WebSocketSession');
  /** Tasks that wait for the running one; the number of messages per second limits them. */
  readonly #tasks: (() => unknown)[] = [];
  #socket: ClientSocket | undefined = undefined;
  #closed: PromiseWithResolvers<number> | undefined = undefined;
  /** Of the next ping, or of the end of the connection if that is earlier. */
  #timer: NodeJS.Timeout | undefined = undefined;
  /** When the connection has reached its largest age. */
  #endMs = 0;
  #isRunning = false;
  /** Whether this side has closed the connection: then messages are discarded. */
  #isOver = false;
  #isAlive = true;
  #secondMs = 0;
  #messages = 0;

  constructor(ctx: Context<P>, route: WebSocketRoute<P, Schema>) {
    this.ctx = ctx;
    this.#route = route;
  }

  get closed(): Promise<number> {
    this.#closed ??= Promise.withResolvers();
    return this.#closed.promise;
  }

  /** Starts to receive messages, for at most `ageMs`. */
  begin(socket: ClientSocket, ageMs: number): void {
    this.#socket = socket;
    this.#endMs = performance.now() + ageMs;
    this.#setTimer();
    socket.listener = this;
    this.#enqueue(() => this.#route.handlers.open?.(this));
  }

  #setTimer(): void {
    const leftMs = this.#endMs - performance.now();
    const { pingMs } = this.#route;
    const isPing = pingMs > 0 && pingMs < leftMs;
    const timer = isPing
      ? setTimeout(sendPing, pingMs, this)
      : setTimeout(endOfAge, Math.max(0, leftMs), this);
    this.#timer = timer.unref();
  }

  /** Replies, unless earlier replies and messages wait for a client that does not read. */
  pinged(data: Buffer): void {
    if (!this.#isTooFast() && !this.#isTooSlow()) this.#socket?.pong(data);
  }

  ponged(): void {
    this.#isTooFast();
  }

  received(data: Buffer, isBinary: boolean): void {
    if (!this.#isTooFast()) this.#enqueue(() => this.#receive(data, isBinary));
  }

  disconnected(code: number): void {
    clearTimeout(this.#timer);
    this.#route.release();
    this.#closed ??= Promise.withResolvers();
    this.#closed.resolve(code);
    this.#enqueue(() => this.#route.handlers.close?.(this, code));
  }

  send(message: unknown): boolean {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return false;
    const isRaw = typeof message === 'string' || message instanceof Uint8Array;
    const data = isRaw ? message : stringify(message);
    if (data === undefined) {
      throw new TypeError(`Cannot send a message of type ${typeof message}: it has no JSON form`);
    }
    if (this.#isTooSlow()) return false;
    socket.send(data);
    return true;
  }

  close(code = 1000, reason = ''): void {
    if (this.#socket?.readyState === WebSocket.CLOSED) return; // the handler `close` may still wait
    this.#socket?.close(code, reason);
    this.#isOver = true;
    this.#tasks.length = 0;
  }

  goAway(): void {
    this.close(1001, 'The server is about to close');
  }

  /** Handlers that are running delay the reply to a ping. */
  ping(): void {
    if (!this.#isAlive && !this.#isRunning) {
      this.#socket?.terminate();
      return;
    }
    this.#isAlive = false;
    this.#socket?.ping();
    this.#setTimer();
  }

  /** Counts a message, and closes the connection if there are too many in this second. */
  #isTooFast(): boolean {
    this.#isAlive = true;
    if (this.#isOver) return true;
    const nowMs = performance.now();
    if (nowMs - this.#secondMs >= 1_000) {
      this.#secondMs = nowMs;
      this.#messages = 0;
    }
    this.#messages++;
    if (this.#messages <= this.#route.maxMessagesPerSecond) return false;
    this.close(1008, 'Too many messages per second');
    return true;
  }

  /** Closes the connection if too much waits for the client. */
  #isTooSlow(): boolean {
    if ((this.#socket?.bufferedAmount ?? 0) <= this.#route.maxUnsentBytes) return false;
    this.close(1013, 'The client reads too slowly');
    return true;
  }

  #receive(data: Buffer, isBinary: boolean): unknown {
    const { schema, message } = this.#route.handlers;
    const deliver = (value: unknown) =>
      this.#isOver ? undefined : message?.(this, value as MessageOf<Schema>);
    if (schema === undefined) return deliver(isBinary ? data : data.toString());
    if (isBinary) return this.close(1003, 'Messages must be text');
    const validated = (result: Awaited<ReturnType<StandardSchema['~standard']['validate']>>) =>
      result.issues ? this.close(1008, reasonOf(result.issues)) : deliver(result.value);
    let value: unknown;
    try {
      value = parseJson(data, 'message');
    } catch (error) {
      return this.close(1007, (error as Error).message);
    }
    const result = schema['~standard'].validate(value);
    return result instanceof Promise ? result.then(validated) : validated(result);
  }

  #enqueue(task: () => unknown): void {
    this.#tasks.push(task);
    if (!this.#isRunning) this.#runTasks();
  }

  /** Reads no further messages while a handler waits for something. */
  async #runTasks(): Promise<void> {
    this.#isRunning = true;
    for (let task = this.#tasks.shift(); task; task = this.#tasks.shift()) {
      try {
        const running = this.#scope.runInAsyncScope(task);
        if (isThenable(running)) {
          this.#socket?.pause();
          await running;
        }
      } catch (error) {
        const { method, path, log } = this.ctx;
        log.error(`${method} ${path}: a WebSocket handler failed`, error);
        this.close(1011, 'Internal error');
      }
    }
    this.#isRunning = false;
    if (this.#socket?.isPaused) this.#socket.resume();
  }
}

const MAX_REASON_BYTES = 123;

/** The first issue, as far as it fits into a close frame (RFC 6455 §5.5). */
function reasonOf([issue]: readonly SchemaIssue[]): string {
  const keys = (issue?.path ?? []).map((step) =>
    String(typeof step === 'object' ? step.key : step),
  );
  let reason = `${keys.map((key) => `/${key}`).join('')}: ${issue?.message}`
    .slice(keys.length > 0 ? 0 : 2)
    .slice(0, MAX_REASON_BYTES)
    .toWellFormed();
  while (Buffer.byteLength(reason) > MAX_REASON_BYTES) reason = reason.slice(0, -1).toWellFormed();
  return reason;
}
