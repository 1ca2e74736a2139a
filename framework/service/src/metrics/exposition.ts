import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { PoolUse } from '../postgres/postgres.ts';
import type { Decisions } from './metrics.ts';
import type { RequestTally } from './request-tally.ts';

/** What is shown, as it is at the moment it is asked for. */
export interface Shown {
  readonly requests: RequestTally;
  readonly inFlight: () => number;
  readonly shed: ReadonlyMap<string, number>;
  readonly decisions: ReadonlyMap<string, Decisions>;
  readonly pools: ReadonlyMap<string, () => PoolUse>;
}

/** Prints what is shown. */
export interface Exposition {
  read(): Promise<string>;
}

/** Shows it by prom-client, beside what that knows of the process: memory, CPU time, event-loop lag. */
export function createExposition(shown: Shown): Exposition {
  const registry = new Registry();
  const registers = [registry];
  const before = process.cpuUsage();
  collectDefaultMetrics({ register: registry });
  countEarlier(registry, before);
  new Counter({
    name: 'http_requests_total',
    help: 'Requests answered, by route pattern, method and class of status.',
    labelNames: ['method', 'route', 'status'],
    registers,
    collect() {
      this.reset();
      for (const { count, method, route, status } of shown.requests.read()) {
        this.inc({ method, route, status }, count);
      }
    },
  });
  new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests that have begun and are not answered yet.',
    registers,
    collect() {
      this.set(shown.inFlight());
    },
  });
  new Counter({
    name: 'http_requests_shed_total',
    help: 'Requests answered 503 before any work, by what there was too much of.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of shown.shed) this.inc({ reason }, count);
    },
  });
  new Counter({
    name: 'rate_limit_decisions_total',
    help: 'Decisions of the rate limits, by outcome.',
    labelNames: ['limit', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const [limit, counts] of shown.decisions) {
        for (const [outcome, count] of Object.entries(counts)) this.inc({ limit, outcome }, count);
      }
    },
  });
  new Gauge({
    name: 'db_pool_connections',
    help: 'Connections of a pool that are at work and idle, and calls that wait for one.',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, read] of shown.pools) {
        const { size, idle, waiting } = read();
        this.set({ pool, state: 'busy' }, size - idle);
        this.set({ pool, state: 'idle' }, idle);
        this.set({ pool, state: 'waiting' }, waiting);
      }
    },
  });
  return {
    async read() {
      const text = (await registry.metrics()).replace(NOTHING_MEASURED, '');
      return `${text}\n${printDurations(shown.requests)}`;
    },
  };
}

/** prom-client counts processor time from when it is asked to; a process begins before that. */
function countEarlier(registry: Registry, { user, system }: NodeJS.CpuUsage): void {
  const used = { user_: user, system_: system, '': user + system };
  for (const [kind, micros] of Object.entries(used)) {
    const counter = registry.getSingleMetric(`process_cpu_${kind}seconds_total`);
    if (counter instanceof Counter) counter.inc(micros / 1e6);
  }
}

/** What Node's histogram of the lag says before its first value: NaN, and as a minimum 292 years. */
const NOTHING_MEASURED = /^nodejs_eventloop_lag_\w+ (?:nan|9223372036\S*)\n/gim;

const DURATION = 'http_request_duration_seconds';

/** In the text format itself: prom-client's histograms cannot be told what was counted elsewhere. */
function printDurations(requests: RequestTally): string {
  const lines = requests.read().flatMap(({ method, route, status, buckets, count, sumSeconds }) => {
    const labels = `method=${quote(method)},route=${quote(route)},status=${quote(status)}`;
    return [
      ...buckets.map((b) => `${DURATION}_bucket{${labels},le="${b.boundSeconds}"} ${b.count}`),
      `${DURATION}_bucket{${labels},le="+Inf"} ${count}`,
      `${DURATION}_sum{${labels}} ${sumSeconds}`,
      `${DURATION}_count{${labels}} ${count}`,
    ];
  });
  const help = `# HELP ${DURATION} How long requests took, in seconds.`;
  return `${[help, `# TYPE ${DURATION} histogram`, ...lines].join('\n')}\n`;
}

function quote(value: string): string {
  return `"${value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`;
}
