import { PINNING } from '../process.ts';
import { type Environment, environmentLines } from '../report.ts';
import { median } from '../statistics.ts';
import { markdownTable } from '../table.ts';
import { SERVICES } from './endpoint.ts';
import type { Pace } from './measure.ts';
import { RAW_SERVER, type StartResult } from './starts.ts';
import { MEASURED_STORES, type MeasuredStore, WORKS, type Work } from './stores/store.ts';
import type { StoreSample } from './stores.ts';
import type { CostSummary, EndpointSummary, Measured } from './summary.ts';

/** All that one run found out. */
export interface Findings {
  readonly environment: Environment;
  readonly pace: Pace;
  readonly endpoints: readonly EndpointSummary[];
  readonly costs: readonly CostSummary[];
  readonly stores: readonly StoreSample[];
  readonly starts: readonly StartResult[];
}

const STORE_TITLES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;

/** The report of a run. */
export function toMarkdown(findings: Findings): string {
  return [
    '# The services',
    environmentLines(findings.environment),
    ...goalLines(findings),
    ...endpointLines(findings),
    ...costLines(findings),
    ...storeLines(findings.stores),
    ...startLines(findings.starts),
  ].join('\n\n');
}

function endpointLines({ endpoints, pace }: Findings): readonly string[] {
  if (endpoints.length === 0) return [];
  const tables = [...groupsOf(endpoints)].map(([title, group]) =>
    markdownTable(
      [
        title,
        ...['ratio', 'fw µs', 'fastify µs'],
        ...['bare ratio', 'fw µs', 'fastify µs'],
        'fastify’s overhead',
        ...['nginx ratio', 'fw req/s', 'fastify req/s'],
      ],
      group.map(({ endpoint, production, bare, edge, fastifyOverhead }) => [
        endpoint,
        ...[
          production.ratio.toFixed(2),
          micros(production.fwMicros),
          micros(production.fastifyMicros),
        ],
        ...[bare.ratio.toFixed(2), micros(bare.fwMicros), micros(bare.fastifyMicros)],
        percent(fastifyOverhead),
        ...[edge.ratio.toFixed(2), edge.fwPerSecond.toFixed(), edge.fastifyPerSecond.toFixed()],
      ]),
    ),
  );
  return [
    `## Each endpoint, beside the same one on fastify`,
    `${conditions(pace)} A ratio is fastify’s time by ours in the same round: above 1, ours is faster. ` +
      'First as in production, with log, metrics, request ids and time-outs, ours with draining and ' +
      'shedding too; then bare; then what all of that adds to fastify’s; then as in production behind ' +
      'nginx.',
    ...disturbance(endpoints),
    ...tables,
  ];
}

function costLines({ costs, pace }: Findings): readonly string[] {
  if (costs.length === 0) return [];
  const tables = [...groupsOf(costs)].map(([title, group]) =>
    markdownTable(
      [title, 'bare µs', 'log, metrics, ids', 'all of production'],
      group.map(({ endpoint, bareMicros, observation, production }) => [
        endpoint,
        micros(bareMicros),
        percent(observation),
        percent(production),
      ]),
    ),
  );
  return [
    '## What production adds to a request',
    `${conditions(pace)} Medians of what was added to the bare request of the same round: by the line ` +
      'of log, the metrics and the request id; then by these, draining, shedding and time-outs.',
    ...tables,
  ];
}

function groupsOf<Each extends Measured>(each: readonly Each[]): Map<string, Each[]> {
  return Map.groupBy(each, ({ service, store }) =>
    service === 'reports' ? 'reports' : `${service} on ${STORE_TITLES[store]}`,
  );
}

function conditions({ rounds, milliseconds, connections }: Pace): string {
  return (
    `Processor time of the service's process per request; medians of ${rounds} rounds of ` +
    `${milliseconds} ms, wrk with ${connections} connections; ${PINNING}, and with it nginx and PostgreSQL.`
  );
}

function storeLines(samples: readonly StoreSample[]): readonly string[] {
  if (samples.length === 0) return [];
  const rows = MEASURED_STORES.flatMap((store) =>
    WORKS.map((work) => [
      `${store}, ${work}`,
      perSecond(samples, store, work).toFixed(),
      (perSecond(samples, store, work) / perSecond(samples, 'unnamed pg', work)).toFixed(2),
      micros(median(of(samples, store, work).map(({ cpuMicrosEach }) => cpuMicrosEach))),
    ]),
  );
  return [
    '## The stores of users',
    '16 in flight. What is written counts once it is acknowledged, which is after it is on the disk. ' +
      'A create is an insert that looks whether the e-mail is taken. Unnamed pg is a statement for each ' +
      'call through a pool of `pg`, as text, into the same tables.',
    markdownTable(['', 'per second', 'unnamed pg = 1', 'CPU µs'], rows),
  ];
}

function startLines(results: readonly StartResult[]): readonly string[] {
  if (results.length === 0) return [];
  const base = rawMiB(results);
  return [
    '## Starting',
    'From the start of the process until it says that it is ready, and its resident memory while it ' +
      'idles after that.',
    markdownTable(
      ['', 'ready, ms', 'idle, MiB', 'above raw, MiB'],
      results.map(({ name, readyMs, idleMiB }) => [
        name,
        readyMs?.toFixed() ?? '',
        idleMiB.toFixed(1),
        (idleMiB - base).toFixed(1),
      ]),
    ),
  ];
}

/** What was aimed at, and whether it is so. */
function goalLines({ endpoints, costs, stores, starts }: Findings): readonly string[] {
  const goals: string[] = [];
  const judge = (goal: string, misses: readonly string[]) =>
    goals.push(`- ${misses.length === 0 ? 'Met' : 'Missed'}: ${[goal, ...misses].join('; ')}`);
  const named = ({ service, store, endpoint }: Measured) =>
    `${service} on ${STORE_TITLES[store]}, ${endpoint}`;
  const slower = (kind: 'production' | 'bare' | 'edge') =>
    endpoints
      .filter((each) => each[kind].ratio < 1)
      .map((each) => `${named(each)}: ${each[kind].ratio.toFixed(2)}`);
  const costly = (kind: 'observation' | 'production') =>
    costs
      .filter((each) => each[kind] >= 0.15)
      .map((each) => `${named(each)}: ${percent(each[kind])}`);

  if (endpoints.length > 0) {
    judge(
      'as in production, each endpoint is at least as fast as on fastify',
      slower('production'),
    );
    judge('bare, each endpoint is at least as fast as on fastify', slower('bare'));
    judge('behind nginx, each endpoint is at least as fast as on fastify', slower('edge'));
  }
  if (costs.length > 0) {
    judge(
      'log, metrics and request ids cost less than 15 % of the bare request',
      costly('observation'),
    );
    judge('all of production costs less than 15 % of the bare request', costly('production'));
  }
  if (stores.length > 0) {
    for (const work of ['insert', 'create'] as const) {
      const acknowledged = perSecond(stores, 'sqlite', work);
      judge(
        `SQLite: at least 20,000 acknowledged ${work}s per second`,
        acknowledged < 20_000 ? [acknowledged.toFixed()] : [],
      );
    }
    for (const work of WORKS) {
      const ratio = perSecond(stores, 'postgres', work) / perSecond(stores, 'unnamed pg', work);
      judge(
        `PostgreSQL: at least 1.5 times the ${work}s of unnamed pg`,
        ratio < 1.5 ? [ratio.toFixed(2)] : [],
      );
    }
  }
  const base = rawMiB(starts);
  const services = SERVICES.flatMap((service) => starts.find(({ name }) => name === service) ?? []);
  for (const { name, readyMs = 0, idleMiB } of services) {
    judge(`${name} is ready within 150 ms`, readyMs > 150 ? [`${readyMs.toFixed()} ms`] : []);
    judge(
      `${name} idles at the memory of raw node:http plus 25 MiB at most`,
      idleMiB - base > 25 ? [`plus ${(idleMiB - base).toFixed(1)}`] : [],
    );
  }
  return goals.length > 0 ? [goals.join('\n')] : [];
}

function rawMiB(results: readonly StartResult[]): number {
  return results.find(({ name }) => name === RAW_SERVER)?.idleMiB ?? Number.NaN;
}

/** A line of warning when contestants on SQLite, which wait for nobody, could not have their core. */
function disturbance(endpoints: readonly EndpointSummary[]): readonly string[] {
  const shares = endpoints
    .filter(({ store, endpoint }) => store === 'sqlite' && endpoint.startsWith('GET'))
    .map(({ coreShare }) => coreShare);
  const lowest = Math.min(...shares);
  if (lowest >= 0.85) return [];
  return [
    '**Disturbed: other work ran on the machine.** A contestant had as little as ' +
      `${(lowest * 100).toFixed()} % of its core; there req/s mean nothing, and ratios little.`,
  ];
}

function of(samples: readonly StoreSample[], store: MeasuredStore, work: Work) {
  return samples.filter((sample) => sample.store === store && sample.work === work);
}

function perSecond(samples: readonly StoreSample[], store: MeasuredStore, work: Work): number {
  return median(of(samples, store, work).map((sample) => sample.perSecond));
}

function micros(value: number): string {
  return value.toFixed(value < 100 ? 1 : 0);
}

function percent(part: number): string {
  return `${(part * 100).toFixed()} %`;
}
