import { type Metrics, readCapacity } from './lib/breakpoint.ts';
import { COMPARED_KINDS } from './lib/kinds.ts';
import { breakpointOptions, type ProfileName } from './lib/profiles.ts';
import type { Environment } from './lib/variables.ts';

/** What a profile finds out, besides whether its thresholds were met. */
export interface Findings {
  /** The highest rate that met all objectives, in requests per second; only of `breakpoint`. */
  readonly capacity?: number;
  /** Only of `rollout`. */
  readonly stream?: StreamCounts;
  /** Lines to print after the summary of k6. */
  readonly text: string;
}

/** The requests of `rollout`; a repeated request counts once. */
export interface StreamCounts {
  /** Requests without an expected response. */
  readonly lost: number;
  /** Requests that create a user: POST. */
  readonly creations: number;
  /** Those of them that got a response with 201. */
  readonly created: number;
}

/** Reads the findings of a profile from the metrics of its run. */
export function findingsOf(name: ProfileName, metrics: Metrics, env: Environment): Findings {
  if (name === 'versions') return { text: compareVersions(metrics) };
  if (name === 'rollout') return { text: '', stream: streamCountsOf(metrics) };
  if (name !== 'breakpoint') return { text: '' };
  const options = breakpointOptions(env);
  const capacity = readCapacity(metrics, options);
  const more = capacity === options.maxRate ? ' or more: set a higher RATE' : '';
  return { capacity, text: `Capacity: ${capacity} requests per second${more}\n` };
}

function streamCountsOf(metrics: Metrics): StreamCounts {
  const count = (name: string) => metrics[name]?.count ?? 0;
  return {
    lost: count('requests_lost'),
    creations: count('creations_sent'),
    created: count('users_created'),
  };
}

/** A table of the response times of both versions, in milliseconds. */
function compareVersions(metrics: Metrics): string {
  const head = ['', 'v1 med', 'v1 p(95)', 'v2 med', 'v2 p(95)', 'v2/v1 med'];
  const rows = Object.entries(COMPARED_KINDS).map(([operation, kinds]) => {
    const [v1, v2] = kinds.map((kind) => metrics[`http_req_duration{name:${kind}}`] ?? {});
    const times = [v1, v2].flatMap((one) => [one?.med ?? 0, one?.['p(95)'] ?? 0]);
    return [operation, ...[...times, (v2?.med ?? 0) / (v1?.med ?? 0)].map((ms) => ms.toFixed(2))];
  });
  const lines = [head, ...rows].map(([first = '', ...cells]) =>
    [first.padEnd(16), ...cells.map((cell) => cell.padStart(10))].join(''),
  );
  return `Response times in milliseconds\n${lines.join('\n')}\n`;
}
