import { ConnectionLostError } from './postgres-errors.ts';

/** A call of the server that somebody waits for. */
export interface Call {
  /** Nobody waits any more. */
  readonly isOver: boolean;
  /** Tells that the call has its connection; `drop` is run when nobody waits for it any more. */
  connected(drop: () => void): void;
}

export interface ServerWatchOptions {
  /** How long the server may say nothing while it is asked. */
  readonly silenceMs: number;
  /** Asks the server in another way, halfway through a silence: its answer is to be `heard`. */
  readonly probe: () => void;
  /** Is told that the silence was too long. */
  readonly onSilence: (reason: ConnectionLostError) => void;
}

/**
 * Watches over the calls of one server. It counts ticks and reads no clock: in a process that does not
 * get the processor, or that is late itself, no time passes, and what has arrived meanwhile is read
 * before the next tick. So a machine that is slow is not taken for a server that is gone.
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

  /** The server has said something, whatever it was. */
  heard(): void {
    this.#hasSpoken = true;
  }

  /**
   * Does `work`, for which the server is asked.
   *
   * @throws {ConnectionLostError} if it takes longer than `limitMs`, or is given up before
   */
  run<T>(limitMs: number, work: (call: Call) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const call = new WatchedCall(limitMs, reject);
      this.#calls.add(call);
      this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
      work(call)
        .then(resolve, reject)
        .finally(() => this.#calls.delete(call));
    });
  }

  /** Whether somebody waits, so that a server that is gone will be noticed. */
  get isAsking(): boolean {
    return this.#calls.size > 0;
  }

  /** Ends every call that waits for its connection still. */
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
    const { silenceMs, probe, onSilence } = this.#options;
    const ticks = ticksOf(silenceMs);
    if (this.#silentTicks === Math.ceil(ticks / 2)) probe();
    if (this.#silentTicks >= ticks) {
      this.#silentTicks = 0;
      onSilence(new ConnectionLostError(`no answer within ${silenceMs} ms`));
    }
  }
}

const TICK_MS = 50;

function ticksOf(ms: number): number {
  return Math.ceil(ms / TICK_MS);
}

class WatchedCall implements Call {
  isOver = false;
  readonly #limitMs: number;
  readonly #reject: (reason: Error) => void;
  #ticks = 0;
  #drop: (() => void) | undefined;

  constructor(limitMs: number, reject: (reason: Error) => void) {
    this.#limitMs = limitMs;
    this.#reject = reject;
  }

  get isConnected(): boolean {
    return this.#drop !== undefined;
  }

  connected(drop: () => void): void {
    this.#drop = drop;
  }

  tick(): void {
    this.#ticks++;
    if (this.#ticks <= ticksOf(this.#limitMs)) return;
    this.giveUp(new ConnectionLostError(`no answer within ${this.#limitMs} ms`));
  }

  giveUp(reason: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#reject(reason);
    this.#drop?.();
  }
}
