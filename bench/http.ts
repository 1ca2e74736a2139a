import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { median, rotate } from '../deploy/local/testing/statistics.ts';
import { ensureTool } from '../tools/programs.ts';
import { addOnCostsOf } from './http/add-on-costs.ts';
import { CONTESTANTS } from './http/contestant.ts';
import { checkParity } from './http/parity.ts';
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
import { describeEnvironment, publish } from './report.ts';

const HELP = `Compares the framework with its peers over HTTP.

  --only fw,hono      contestants; always includes raw and the framework that a contestant is built on
                      (${Object.keys(CONTESTANTS).join(', ')})
  --workload hello    workloads; an add-on includes the bare workload that it is compared with
                      (${WORKLOADS.join(', ')})
  --rounds 5          measured rounds
  --seconds 1         seconds that one contestant is measured per round
  --warmup 50000      requests to each contestant before the first round
  --connections 64    open connections of wrk
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

/** The measurement of one contestant in one round. */
interface Sample {
  readonly workload: Workload;
  readonly contestant: string;
  readonly round: number;
  readonly requestsPerSecond: number;
  readonly cpuMicrosPerRequest: number;
  /** CPU time divided by elapsed time. Far below 1: other programs used the core or delayed the load. */
  readonly coreShare: number;
}

interface Summary {
  readonly workload: Workload;
  readonly contestant: string;
  readonly requestsPerSecond: number;
  readonly cpuMicrosPerRequest: number;
  /**
   * CPU time of raw divided by that of this contestant, in the same round. For an add-on, raw runs the
   * bare workload. More is better.
   */
  readonly ratioToRaw: number;
  readonly coreShare: number;
}

interface Server {
  readonly contestant: string;
  readonly workload: Workload;
  readonly child: ChildProcess;
  readonly port: number;
}

/** Measures the contestants over HTTP and prints a report. */
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
  const addOnCosts = addOnCostsOf(samples);
  const isComplete = values.only === undefined && values.workload === undefined;
  const results = { environment, settings, summaries, addOnCosts };
  publish(
    {
      name: 'http',
      markdown: [...disturbance(summaries), httpSection(results)].join('\n\n'),
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

/** Starts and checks every contestant, then measures each of them in every round. */
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
      // An add-on runs directly after its bare workload: the report shows their difference.
      const order = rotate(contestants, round).flatMap((name) =>
        servers.filter(({ contestant }) => contestant === name),
      );
      for (const server of order) {
        const { contestant, workload } = server;
        const sample = await measure(server, settings);
        samples.push({ workload, contestant, round, ...sample });
        const result = `${sample.requestsPerSecond.toFixed()} req/s, ${sample.cpuMicrosPerRequest.toFixed(2)} µs`;
        report(workload, `round ${round} of ${settings.rounds}: ${contestant} ${result}`);
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
  await naming(contestant, workload, checkParity(port, workload));
  return { contestant, workload, child, port };
}

/** Counts requests, not time: V8 compiles a slow contestant after as many requests as a fast one. */
async function warmUp(server: Server, settings: Settings): Promise<void> {
  for (let requests = 0; requests < settings.warmup; ) {
    requests += (await load(server, { ...settings, seconds: 1 })).requests;
  }
}

async function measure(
  server: Server,
  settings: Settings,
): Promise<Pick<Sample, 'requestsPerSecond' | 'cpuMicrosPerRequest' | 'coreShare'>> {
  const before = await cpuMicrosOf(server.child);
  const { requests, requestsPerSecond } = await load(server, settings);
  const cpuMicros = (await cpuMicrosOf(server.child)) - before;
  const elapsedMicros = (requests / requestsPerSecond) * 1e6;
  return {
    requestsPerSecond,
    cpuMicrosPerRequest: cpuMicros / requests,
    coreShare: cpuMicros / elapsedMicros,
  };
}

function load(
  { contestant, workload, port }: Server,
  { connections, seconds }: Settings,
): Promise<LoadResult> {
  const exchanges = EXCHANGES[workload];
  return naming(contestant, workload, runWrk({ port, exchanges, connections, seconds }));
}

/** Adds contestant and workload to the message of an error. */
async function naming<T>(contestant: string, workload: Workload, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${contestant}, ${workload}: ${reason}`, { cause: error });
  }
}

function report(workload: Workload, progress: string): void {
  process.stderr.write(`http, ${workload}, ${progress}\n`);
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

/** A warning if other programs used the core of the contestants. */
function disturbance(summaries: readonly Summary[]): readonly string[] {
  const shares = WORKLOADS.flatMap((workload) => {
    const own = summaries.filter((summary) => summary.workload === workload);
    const lowest = Math.min(...own.map(({ coreShare }) => coreShare));
    return lowest < 0.9 ? [`${workload} ${(lowest * 100).toFixed()} %`] : [];
  });
  if (shares.length === 0) return [];
  return [
    '**Disturbed: other programs ran on the machine.** Lowest share of its core that a contestant ' +
      `got: ${shares.join(', ')}. In these workloads req/s are invalid and ratios unreliable.`,
  ];
}

if (import.meta.main) await runAsProgram(runHttp);
