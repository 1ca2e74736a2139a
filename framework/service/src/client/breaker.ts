export interface BreakerOptions {
  /** After how many failures in a row nothing is tried any more. Default 5. */
  readonly failures?: number;
  /** After how long one trial may show whether it works again, in milliseconds. Default 2 s. */
  readonly openMs?: number;
  /** A clock, in milliseconds. */
  readonly now?: () => number;
}

/** How a try ended; one that was called off says nothing. */
export type Outcome = 'success' | 'failure' | 'called off';

/** Spares whoever fails again and again, and those who would wait for it. */
export interface Breaker {
  /** Admits a try, and is told by the result how it ended; `undefined` while nothing is admitted. */
  admit(): ((outcome: Outcome) => void) | undefined;
}

/**
 * Creates a circuit breaker: closed, it admits everything; open, nothing; after a while one trial,
 * which closes it or opens it anew.
 */
export function createBreaker(options: BreakerOptions = {}): Breaker {
  const { failures = 5, openMs = 2_000, now = () => performance.now() } = options;
  let inARow = 0;
  let trialFromMs = 0;
  let isTrying = false;

  const admitTrial = () => {
    isTrying = true;
    return (outcome: Outcome) => {
      isTrying = false;
      if (outcome === 'success') inARow = 0;
      if (outcome === 'failure') trialFromMs = now() + openMs;
    };
  };
  const settle = (outcome: Outcome) => {
    if (outcome === 'success' && inARow < failures) inARow = 0;
    if (outcome === 'failure' && ++inARow === failures) trialFromMs = now() + openMs;
  };
  return {
    admit() {
      if (inARow < failures) return settle;
      return isTrying || now() < trialFromMs ? undefined : admitTrial();
    },
  };
}
