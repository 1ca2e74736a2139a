import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { ensureTool } from '../deploy/local/tools.ts';
import { CONTESTANTS } from './http/contestant.ts';
import { checkParity } from './http/parity.ts';
import { type Price, pricesOf } from './http/prices.ts';
import { httpSection, speedChart } from './http/section.ts';
import { BARE, EXCHANGES, WORKLOADS, type Workload } from './http/workloads.ts';
import { type LoadResult, runWrk } from './http/wrk.ts';
import { readCount, readNames, readOptions, runAsProgram } from './options.ts';
import {
  cpuMicrosOf,
  MEASURED_CORE,
  nextMessage,
  PINNING,
  startProcess,
  stopProcess,
} from './process.ts';
import { describeEnvironment, type Environment, environmentLines, publish } from './report.ts';
import { median, rotate } from './statistics.ts';
import { markdownTable } from './table.ts';

const HELP = `The framework beside its peers, over HTTP.

  --only fw,hono      contestants; raw is always among them, as is what another is built on
                      (${Object.keys(CONTESTANTS).join(', ')})
  --workload hello    workloads; an add-on brings the bare one that it is compared to
                      (${WORKLOADS.join(', ')})
  --rounds 5          rounds that are measured
  --seconds 1         length of one contestant's slice of a round
  --warmup 50000      requests to each contestant before the first round
  --connections 64    connections that wrk keeps open
  --out DIR           folder of the JSON file with every sample (default .local/bench)
`;

const CHART = fileURLToPath(new URL('../docs/speed.svg', import.meta.url));
const SERVER = fileURLToPath(new URL('http/server.ts', import.meta.url));

interface Settings {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmup: number;
  readonly connections: number;
}

/** One contestant's slice of one round. */
interface Sample {
  readonly workload: Workload;
  readonly contestant: string;
  readonly round: number;
  readonly requestsPerSecond: number;
  readonly cpuMicrosPerRequest: number;
  /** Processor time by time passed: far below 1, something else had the core or held up the load. */
  readonly coreShare: number;
}

interface Summary {
  readonly workload: Workload;
  readonly contestant: string;
  readonly requestsPerSecond: number;
  readonly cpuMicrosPerRequest: number;
  /** Of raw in the same round, in the bare workload if this is an add-on: raw's processor time per request by this one's; more is better. */
  readonly ratioToRaw: number;
  readonly coreShare: number;
}

interface Server {
  readonly contestant: string;
  readonly workload: Workload;
  readonly child: ChildProcess;
  readonly port: number;
}

/** Measures the contestants over HTTP, and reports. */
export async function runHttp(args: readonly string[]): Promise<void> {
  const values = readOptions(args, HELP, {
    only: { type: 'string' },
    workload: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    warmup: { type: 'string', default: '50000' },
    connections: { type: 'string', default: '64' },
  });
  if (!values) return;
  const chosen = readNames(values.only, Object.keys(CONTESTANTS));
  const bases = chosen.flatMap((name) => CONTESTANTS[name]?.over ?? []);
  const contestants = [...new Set(['raw', ...bases, ...chosen])];
  const workloads = readNames(values.workload, WORKLOADS);
  const settings: Settings = {
    rounds: readCount('rounds', values.rounds),
    seconds: readCount('seconds', values.seconds),
    warmup: readCount('warmup', values.warmup),
    connections: readCount('connections', values.connections),
  };
  ensureTool('wrk');

  const environment = describeEnvironment(
    contestants.flatMap((name) => {
      const { packages = [], addOnPackages = [] } = CONTESTANTS[name] ?? {};
      return [...packages, ...addOnPackages];
    }),
  );
  const samples: Sample[] = [];
  for (const group of groupsOf(workloads)) {
    samples.push(...(await measureGroup(group, contestants, settings)));
  }
  const summaries = summarize(samples);
  const prices = pricesOf(samples);
  const isComplete = values.only === undefined && values.workload === undefined;
  const results = { environment, settings, summaries, prices };
  publish(
    {
      name: 'http',
      markdown: toMarkdown(summaries, prices, environment, settings),
      section: httpSection(results),
      data: { ...results, pinning: PINNING, samples },
    },
    { isComplete, out: values.out },
  );
  if (isComplete && values.out === undefined) writeFileSync(CHART, speedChart(results));
}

/** Each bare workload with its add-ons, so that they are measured in the same rounds. */
function groupsOf(workloads: readonly Workload[]): readonly (readonly Workload[])[] {
  const groups = Map.groupBy(workloads, (workload) => BARE[workload] ?? workload);
  return [...groups].map(([bare, group]) => [...new Set([bare, ...group])]);
}

/** Starts every contestant, checks them, and gives each a slice of every round. */
async function measureGroup(
  workloads: readonly Workload[],
  contestants: readonly string[],
  settings: Settings,
): Promise<readonly Sample[]> {
  const servers: Server[] = [];
  try {
    for (const contestant of contestants) {
      for (const workload of workloads) {
        if (!CONTESTANTS[contestant]?.workloads.includes(workload)) continue;
        servers.push(await startServer(contestant, workload));
      }
    }
    for (const server of servers) {
      report(server.workload, `warm-up: ${server.contestant}`);
      await warmUp(server, settings);
    }
    const samples: Sample[] = [];
    for (let round = 1; round <= settings.rounds; round++) {
      // A bare workload and its add-on stay side by side: their difference is the figure.
      const order = rotate(contestants, round).flatMap((name) =>
        servers.filter(({ contestant }) => contestant === name),
      );
      for (const server of order) {
        const { contestant, workload } = server;
        const sample = await slice(server, settings);
        samples.push({ workload, contestant, round, ...sample });
        const figures = `${sample.requestsPerSecond.toFixed()} req/s, ${sample.cpuMicrosPerRequest.toFixed(2)} µs`;
        report(workload, `round ${round} of ${settings.rounds}: ${contestant} ${figures}`);
      }
    }
    return samples;
  } finally {
    for (const { child } of servers) await stopProcess(child);
  }
}

async function startServer(contestant: string, workload: Workload): Promise<Server> {
  const child = startProcess([process.execPath, SERVER, contestant, workload], {
    core: MEASURED_CORE,
    channel: true,
  });
  const { port } = (await nextMessage(child)) as { port: number };
  await blame(contestant, workload, checkParity(port, workload));
  return { contestant, workload, child, port };
}

/** By requests, not by time: a slow contestant needs as many to be compiled as a fast one. */
async function warmUp(server: Server, settings: Settings): Promise<void> {
  for (let requests = 0; requests < settings.warmup; ) {
    requests += (await load(server, { ...settings, seconds: 1 })).requests;
  }
}

async function slice(
  server: Server,
  settings: Settings,
): Promise<Pick<Sample, 'requestsPerSecond' | 'cpuMicrosPerRequest' | 'coreShare'>> {
  const before = await cpuMicrosOf(server.child);
  const { requests, requestsPerSecond } = await load(server, settings);
  const used = (await cpuMicrosOf(server.child)) - before;
  const passed = (requests / requestsPerSecond) * 1e6;
  return { requestsPerSecond, cpuMicrosPerRequest: used / requests, coreShare: used / passed };
}

function load(
  { contestant, workload, port }: Server,
  { connections, seconds }: Settings,
): Promise<LoadResult> {
  const exchanges = EXCHANGES[workload];
  return blame(contestant, workload, runWrk({ port, exchanges, connections, seconds }));
}

/** Puts the name of the contestant in front of what went wrong. */
async function blame<T>(contestant: string, workload: Workload, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${contestant}, ${workload}: ${reason}`, { cause: error });
  }
}

function report(workload: Workload, what: string): void {
  process.stderr.write(`http, ${workload}, ${what}\n`);
}

function summarize(samples: readonly Sample[]): readonly Summary[] {
  const groups = Object.values(
    Object.groupBy(samples, ({ workload, contestant }) => `${workload} ${contestant}`),
  );
  return groups
    .flatMap((group = []) => {
      const [first] = group;
      if (!first) return [];
      const { workload, contestant } = first;
      return {
        workload,
        contestant,
        requestsPerSecond: median(group.map((sample) => sample.requestsPerSecond)),
        cpuMicrosPerRequest: median(group.map((sample) => sample.cpuMicrosPerRequest)),
        ratioToRaw: median(group.map((sample) => ratioToRaw(sample, samples))),
        coreShare: median(group.map((sample) => sample.coreShare)),
      };
    })
    .toSorted((a, b) => b.ratioToRaw - a.ratioToRaw);
}

function ratioToRaw(sample: Sample, samples: readonly Sample[]): number {
  const bare = BARE[sample.workload] ?? sample.workload;
  const raw = samples.find(
    ({ contestant, workload, round }) =>
      contestant === 'raw' && workload === bare && round === sample.round,
  );
  return (raw?.cpuMicrosPerRequest ?? Number.NaN) / sample.cpuMicrosPerRequest;
}

function toMarkdown(
  summaries: readonly Summary[],
  prices: readonly Price[],
  environment: Environment,
  { rounds, seconds, connections }: Settings,
): string {
  const bareWorkloads = WORKLOADS.filter((workload) => BARE[workload] === undefined);
  const tables = bareWorkloads.flatMap((workload) => {
    const rows = summaries
      .filter((summary) => summary.workload === workload)
      .map((summary) => [
        summary.contestant,
        summary.ratioToRaw.toFixed(2),
        summary.cpuMicrosPerRequest.toFixed(2),
        summary.requestsPerSecond.toFixed(),
      ]);
    const head = [workload, 'raw = 1.00', 'CPU µs per request', 'req/s'];
    return rows.length > 0 ? [markdownTable(head, rows)] : [];
  });
  return [
    environmentLines(environment),
    `Medians of ${rounds} rounds of ${seconds} s; wrk with ${connections} connections; ${PINNING}. ` +
      'The ratio is of processor time per request, to raw `node:http` in the same round: more is better.',
    ...disturbance(summaries),
    ...tables,
    ...priceTables(prices),
  ].join('\n\n');
}

function priceTables(prices: readonly Price[]): readonly string[] {
  const tables = WORKLOADS.flatMap((workload) => {
    const rows = prices
      .filter((price) => price.workload === workload)
      .map(({ contestant, over, priceMicros, bareMicros, micros }) => [
        contestant === over ? contestant : `${contestant}, over ${over}`,
        priceMicros.toFixed(2),
        bareMicros.toFixed(2),
        micros.toFixed(2),
      ]);
    const head = [workload, 'price', BARE[workload] ?? '', workload];
    return rows.length > 0 ? [markdownTable(head, rows)] : [];
  });
  if (tables.length === 0) return [];
  return [
    'What an add-on costs over the bare workload, in µs of processor time per request: the median of ' +
      'the differences within a round.',
    ...tables,
  ];
}

/** A line of warning when contestants could not have their core to themselves. */
function disturbance(summaries: readonly Summary[]): readonly string[] {
  const shares = WORKLOADS.flatMap((workload) => {
    const own = summaries.filter((summary) => summary.workload === workload);
    const lowest = Math.min(...own.map(({ coreShare }) => coreShare));
    return lowest < 0.9 ? [`${workload} ${(lowest * 100).toFixed()} %`] : [];
  });
  if (shares.length === 0) return [];
  return [
    '**Disturbed: other work ran on the machine.** The least share of its core that a contestant ' +
      `had: ${shares.join(', ')}. There req/s mean nothing, and ratios little.`,
  ];
}

if (import.meta.main) await runAsProgram(runHttp);
