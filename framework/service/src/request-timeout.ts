import { DONE, type Middleware, ServiceUnavailableError } from 'fw';

/** Timers that are set for longer go off at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A request that waits for something, in the order of their deadlines. */
interface Waiting {
  readonly deadlineMs: number;
  expire(): void;
}

/**
 * Answers 503 to a request that takes longer than `timeoutMs`, whatever it waits for. What has been
 * begun goes on; its answer is dropped. One timer serves all requests.
 *
 * @throws {RangeError} if `timeoutMs` is no time that a timer can have
 */
export function limitTime(timeoutMs: number): Middleware {
  if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS)) {
    throw new RangeError(`Cannot limit time to "${timeoutMs}": expected 1 to ${MAX_TIMER_MS} ms`);
  }
  const waiting = new Set<Waiting>();
  let isSet = false;
  const sweep = (): void => {
    isSet = false;
    const nowMs = performance.now();
    for (const each of waiting) {
      if (each.deadlineMs > nowMs) {
        setSweep(each.deadlineMs - nowMs);
        return;
      }
      waiting.delete(each);
      each.expire();
    }
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
      const entry: Waiting = {
        deadlineMs: performance.now() + timeoutMs,
        expire: () =>
          reject(new ServiceUnavailableError(`No answer within ${timeoutMs} ms`, RETRY)),
      };
      waiting.add(entry);
      setSweep(timeoutMs);
      running.then(
        () => {
          waiting.delete(entry);
          resolve();
        },
        (error: unknown) => {
          waiting.delete(entry);
          reject(error);
        },
      );
    });
  };
}

const RETRY = { headers: { 'Retry-After': '1' } };
