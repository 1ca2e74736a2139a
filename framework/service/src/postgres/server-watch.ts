import { ConnectionLostError } from './errors.ts';

/** A call of the server. */
export interface Call {
  /** The caller has its response, or an error. */
  readonly isOver: boolean;
  /** The call has its connection, and its limit starts; `drop` is run if the call is ended before its work is. */
  connected(drop: () => void): void;
}

export interface ServerWatchOptions {
  /** How long a call may wait for its connection. */
  readonly waitMs: number;
  /** After how long without any response, while calls are waiting, the server is unavailable. */
  readonly silenceMs: number;
  /** After how long without any response, and again after each such time, `probe` is called. */
  readonly probeMs: number;
  /** Opens another connection to the server; a response to it is to be `heard`. */
  readonly probe: () => void;
  /** Called at the end of `silenceMs`. */
  readonly onSilence: (reason: ConnectionLostError) => void;
}

/**
 * Watches the calls of one server. Time is counted in ticks of the event loop, not read from a clock:
 * everything that has arrived is read between two ticks, so that a process that is blocked or gets no
 * processor time does not mistake its own delay for an outage of the server.
 */
export class ServerWatch {
  readonly #calls = new Set<WatchedCall>();
  readonly #options: ServerWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #hasSpoken = false;
  #silentTicks = 0;

  constructor(options: ServerWatchOptions) {
    this.#options = options;
  }

  /** The server has sent something: a result, an error, or its consent to a connection. */
  heard(): void {
    this.#hasSpoken = true;
  }

  /**
   * Runs `work`, which calls the server.
   *
   * @throws {ConnectionLostError} if it waits for its connection longer than `waitMs`, then takes
   *   longer than `limitMs`, or is ended before
   */
  run<T>(limitMs: number, work: (call: Call) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const call = new WatchedCall(this.#options.waitMs, limitMs, reject);
      this.#calls.add(call);
      this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
      work(call)
        .then(resolve, reject)
        .finally(() => this.#calls.delete(call));
    });
  }

  /** Whether calls are waiting, so that an outage will be noticed. */
  get isAsking(): boolean {
    return this.#calls.size > 0;
  }

  /** Ends every call that has no connection yet. */
  giveUpWaiting(reason: Error): void {
    for (const call of this.#calls) if (!call.isConnected) call.giveUp(reason);
  }

  /** Ends every call. */
  giveUp(reason: Error): void {
    for (const call of this.#calls) call.giveUp(reason);
  }

  #tick(): void {
    if (this.#calls.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#silentTicks = 0;
      return;
    }
    this.#silentTicks = this.#hasSpoken ? 0 : this.#silentTicks + 1;
    this.#hasSpoken = false;
    for (const call of this.#calls) call.tick();
    const { silenceMs, probeMs, probe, onSilence } = this.#options;
    if (this.#silentTicks >= ticksOf(silenceMs)) {
      this.#silentTicks = 0;
      onSilence(new ConnectionLostError(`no response within ${silenceMs} ms`));
    } else if (this.#silentTicks > 0 && this.#silentTicks % ticksOf(probeMs) === 0) {
      probe();
    }
  }
}

const TICK_MS = 50;

function ticksOf(ms: number): number {
  return Math.ceil(ms / TICK_MS);
}

class WatchedCall implements Call {
  isOver = false;
  readonly #waitMs: number;
  readonly #limitMs: number;
  readonly #reject: (reason: Error) => void;
  #ticks = 0;
  #drop: (() => void) | undefined;

  constructor(waitMs: number, limitMs: number, reject: (reason: Error) => void) {
    this.#waitMs = waitMs;
    this.#limitMs = limitMs;
    this.#reject = reject;
  }

  get isConnected(): boolean {
    return this.#drop !== undefined;
  }

  connected(drop: () => void): void {
    this.#drop = drop;
    this.#ticks = 0;
  }

  tick(): void {
    this.#ticks++;
    const ms = this.isConnected ? this.#limitMs : this.#waitMs;
    if (this.#ticks <= ticksOf(ms)) return;
    const missing = this.isConnected ? 'response' : 'connection';
    this.giveUp(new ConnectionLostError(`no ${missing} within ${ms} ms`));
  }

  giveUp(reason: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#reject(reason);
    this.#drop?.();
  }
}
