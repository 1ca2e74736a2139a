import { AsyncResource } from 'node:async_hooks';

import type { Context, Parts } from '@fw/core';
import { parseJson } from '@fw/core/body';
import { isThenable, stringify, type UpgradedConnection } from '@fw/core/extension';
import type { SchemaIssue, StandardSchema } from '@fw/core/schema';

import type { MessageOf, WebSocketClient, WebSocketHandlers } from './client.ts';
import { type ClientSocket, type SocketListener, WebSocket } from './socket.ts';

function endOfAge(client: WebSocketClient): void {
  client.close(1001, 'The connection has reached its largest age');
}

interface Limits {
  readonly maxMessagesPerSecond: number;
  readonly maxUnsentBytes: number;
  /** Time between pings; 0: none. */
  readonly pingMs: number;
  /** Time until the connection ends. */
  readonly ageMs: number;
}

/** One client and its handlers, which run one after the other. */
export class WebSocketSession<P extends Parts, Schema extends StandardSchema | undefined>
  implements WebSocketClient<P>, UpgradedConnection, SocketListener
{
  readonly ctx: Context<P>;
  readonly closed: Promise<number>;
  readonly #handlers: WebSocketHandlers<P, Schema>;
  readonly #limits: Limits;
  readonly #resolveClosed: (code: number) => void;
  /** The asynchronous context of the request, in which the handlers run. */
  readonly #scope = new AsyncResource('WebSocketSession');
  /** Tasks that wait for the running one; the number of messages per second limits them. */
  readonly #tasks: (() => unknown)[] = [];
  #socket: ClientSocket | undefined = undefined;
  #pings: NodeJS.Timeout | undefined = undefined;
  #age: NodeJS.Timeout | undefined = undefined;
  #isRunning = false;
  /** Whether this side has closed the connection: then messages are discarded. */
  #isOver = false;
  #isAlive = true;
  #secondMs = 0;
  #messages = 0;

  constructor(ctx: Context<P>, handlers: WebSocketHandlers<P, Schema>, limits: Limits) {
    this.ctx = ctx;
    this.#handlers = handlers;
    this.#limits = limits;
    const { promise, resolve } = Promise.withResolvers<number>();
    this.closed = promise;
    this.#resolveClosed = resolve;
  }

  /** Starts to receive messages. */
  begin(socket: ClientSocket): void {
    this.#socket = socket;
    const { pingMs, ageMs } = this.#limits;
    this.#age = setTimeout(endOfAge, ageMs, this).unref();
    if (pingMs > 0) this.#pings = setInterval(() => this.#ping(socket), pingMs).unref();
    socket.reportTo(this);
    this.#enqueue(() => this.#handlers.open?.(this));
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
    clearInterval(this.#pings);
    clearTimeout(this.#age);
    this.#resolveClosed(code);
    this.#enqueue(() => this.#handlers.close?.(this, code));
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
  #ping(socket: ClientSocket): void {
    if (!this.#isAlive && !this.#isRunning) {
      socket.terminate();
      return;
    }
    this.#isAlive = false;
    socket.ping();
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
    if (this.#messages <= this.#limits.maxMessagesPerSecond) return false;
    this.close(1008, 'Too many messages per second');
    return true;
  }

  /** Closes the connection if too much waits for the client. */
  #isTooSlow(): boolean {
    if ((this.#socket?.bufferedAmount ?? 0) <= this.#limits.maxUnsentBytes) return false;
    this.close(1013, 'The client reads too slowly');
    return true;
  }

  #receive(data: Buffer, isBinary: boolean): unknown {
    const { schema, message } = this.#handlers;
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
