export interface BreakerOptions {
  /** Number of consecutive failures that open the breaker. Default 5. */
  readonly failures?: number;
  /** Time between two trials while the breaker is open, in milliseconds. Default 2 s. */
  readonly openMs?: number;
  /** A clock, in milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}

/** Protects a failing server, and the callers that would wait for it. */
export interface Breaker {
  /** Whether a call may be made: any while the breaker is closed, one trial per `openMs` while it is open. */
  allowsCall(): boolean;
  /** Closes the breaker. */
  succeeded(): void;
  /** Counts a failure; the last of `failures` in a row opens the breaker. */
  failed(): void;
}

/** Creates a circuit breaker. A call that was cancelled reports neither success nor failure. */
export function createBreaker({
  failures = 5,
  openMs = 2_000,
  now = () => performance.now(),
}: BreakerOptions = {}): Breaker {
  let inARow = 0;
  let trialFromMs = 0;

  return {
    allowsCall() {
      if (inARow < failures) return true;
      if (now() < trialFromMs) return false;
      trialFromMs = now() + openMs;
      return true;
    },
    succeeded() {
      inARow = 0;
    },
    failed() {
      inARow++;
      if (inARow === failures) trialFromMs = now() + openMs;
    },
  };
}
