import { DONE, type Middleware, ServiceUnavailableError } from 'fw';

/** Timers that are set for longer go off at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A request that waits, in a ring by deadline: a set would take longer to enter and to leave. */
class Waiting {
  readonly deadlineMs: number;
  readonly reject: (error: Error) => void;
  #earlier: Waiting = this;
  #later: Waiting = this;

  constructor(deadlineMs: number, reject: (error: Error) => void) {
    this.deadlineMs = deadlineMs;
    this.reject = reject;
  }

  get later(): Waiting {
    return this.#later;
  }

  enterBefore(later: Waiting): void {
    this.#earlier = later.#earlier;
    this.#later = later;
    this.#earlier.#later = this;
    later.#earlier = this;
  }

  /** Leaves the ring, if it is in one. */
  leave(): void {
    this.#earlier.#later = this.#later;
    this.#later.#earlier = this.#earlier;
    this.#earlier = this;
    this.#later = this;
  }
}

/**
 * Answers 503 to a request that takes longer than `timeoutMs`, whatever it waits for. What has been
 * begun goes on; its answer is dropped. One timer serves all requests.
 *
 * @throws {TypeError} if `timeoutMs` is no time that a timer can have
 */
export function limitTime(timeoutMs: number): Middleware {
  if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS)) {
    throw new TypeError(`Cannot limit time to "${timeoutMs}": expected 1 to ${MAX_TIMER_MS} ms`);
  }
  const end = new Waiting(Number.POSITIVE_INFINITY, () => {});
  let isSet = false;
  const sweep = (): void => {
    isSet = false;
    const nowMs = performance.now();
    let first = end.later;
    for (; first.deadlineMs <= nowMs; first = end.later) {
      first.leave();
      first.reject(new ServiceUnavailableError(`No answer within ${timeoutMs} ms`, RETRY));
    }
    if (first !== end) setSweep(first.deadlineMs - nowMs);
  };
  const setSweep = (inMs: number): void => {
    if (isSet) return;
    isSet = true;
    setTimeout(sweep, Math.ceil(inMs)).unref();
  };

  return (_ctx, next) => {
    const running = next();
    if (running === DONE) return DONE;
    return new Promise<void>((resolve, reject) => {
      const waiting = new Waiting(performance.now() + timeoutMs, reject);
      waiting.enterBefore(end);
      setSweep(timeoutMs);
      running.then(
        () => {
          waiting.leave();
          resolve();
        },
        (error: unknown) => {
          waiting.leave();
          reject(error);
        },
      );
    });
  };
}

const RETRY = { headers: { 'Retry-After': '1' } };
