import type { Options, Scenario } from 'k6/options';

import { MIXED_KINDS } from './mixed.ts';
import { type Kind, latencyThresholds } from './objectives.ts';
import { COMMON, secondsOf } from './options.ts';

/** Seconds before and after the overload, and how long the system may take to recover. */
const NORMAL_SECONDS = 5;
const RECOVERY_SECONDS = 5;
/** Accepted requests may take this much longer than normal during the overload. */
const OVERLOAD_FACTOR = 4;

interface OverloadOptions {
  /** Requests per second at the peak; a tenth of it is the normal load. */
  readonly rate: number;
  /** Duration of the overload. */
  readonly duration: string;
  /** Whether the rate rises during the first half of the overload. Otherwise, it jumps to the peak. */
  readonly isGradual: boolean;
}

/**
 * Normal load, overload, and normal load again. During the overload and 5 s of recovery, 503 with
 * `Retry-After` is an expected response; accepted requests may take four times as long. Before and after,
 * all objectives apply.
 */
export function overload({ rate, duration, isGradual }: OverloadOptions): Options {
  const normal = Math.ceil(rate / 10);
  const peakEnd = NORMAL_SECONDS + secondsOf(duration);
  const half = `${Math.ceil(secondsOf(duration) / 2)}s`;
  return {
    scenarios: {
      before: { ...constant(normal, NORMAL_SECONDS), exec: 'mixed', tags: { phase: 'normal' } },
      peak: {
        executor: 'ramping-arrival-rate',
        startRate: isGradual ? normal : rate,
        stages: [
          { target: rate, duration: half },
          { target: rate, duration: half },
        ],
        startTime: `${NORMAL_SECONDS}s`,
        // Enough for responses that take 2 s.
        preAllocatedVUs: 2 * rate,
        exec: 'overloaded',
        tags: { phase: 'overload' },
      },
      recovery: {
        ...constant(normal, RECOVERY_SECONDS),
        startTime: `${peakEnd}s`,
        exec: 'overloaded',
        tags: { phase: 'recovery' },
      },
      after: {
        ...constant(normal, NORMAL_SECONDS),
        startTime: `${peakEnd + RECOVERY_SECONDS}s`,
        exec: 'mixed',
        tags: { phase: 'normal' },
      },
    },
    thresholds: {
      dropped_iterations: ['count==0'],
      http_req_failed: ['rate==0'],
      checks: ['rate==1'],
      ...latencyThresholds(MIXED_KINDS, { factor: 1, tagsOf: () => 'phase:normal' }),
      ...latencyThresholds(MIXED_KINDS, {
        factor: OVERLOAD_FACTOR,
        tagsOf: (kind) => `phase:overload,status:${successOf(kind)}`,
      }),
    },
    ...COMMON,
  };
}

function constant(rate: number, seconds: number): Scenario {
  const duration = `${seconds}s`;
  return { executor: 'constant-arrival-rate', rate, duration, preAllocatedVUs: 20 + 2 * rate };
}

/** The status of an accepted request. */
function successOf(kind: Kind): number {
  return kind.startsWith('POST ') ? 201 : 200;
}
