import { type Kind, objectiveOf } from './objectives.ts';

export interface ThresholdOptions {
  /** The kinds of request that the script sends. */
  readonly kinds: readonly Kind[];
  /** Share of the requests that may fail. Default 0. */
  readonly failedRate?: number;
  /** Whether the script checks the content of responses; every check must then pass. Default false. */
  readonly hasChecks?: boolean;
  /** Multiplies the latency objectives, for slow machines and long distances. Default 1. */
  readonly latencyFactor?: number;
}

/** The objectives as k6 thresholds, in total and by kind of request. */
export function thresholdsOf({
  kinds,
  failedRate = 0,
  hasChecks = false,
  latencyFactor = 1,
}: ThresholdOptions): Record<string, string[]> {
  return {
    // A load generator that is too slow sends less load: the measurement is then invalid.
    dropped_iterations: ['count==0'],
    http_req_failed: [failedRate === 0 ? 'rate==0' : `rate<${failedRate}`],
    ...(hasChecks && { checks: ['rate==1'] }),
    ...latencyThresholds(kinds, { latencyFactor }),
  };
}

export interface LatencyOptions {
  readonly latencyFactor: number;
  /** Selects the requests of a kind by further tags. Default: all of them. */
  readonly tagsOf?: (kind: Kind) => string;
}

/** The latency objectives of `kinds`. */
export function latencyThresholds(
  kinds: readonly Kind[],
  { latencyFactor, tagsOf }: LatencyOptions,
): Record<string, string[]> {
  return Object.fromEntries(
    kinds.map((kind): [string, string[]] => {
      const { p95Ms, p99Ms } = objectiveOf(kind);
      const tags = tagsOf ? `name:${kind},${tagsOf(kind)}` : `name:${kind}`;
      return [
        `http_req_duration{${tags}}`,
        [`p(95)<${p95Ms * latencyFactor}`, `p(99)<${p99Ms * latencyFactor}`],
      ];
    }),
  );
}
