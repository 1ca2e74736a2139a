import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { CONTESTANTS } from './http/contestant.ts';
import { checkParity } from './http/parity.ts';
import { EXCHANGES, WORKLOADS, type Workload } from './http/workloads.ts';
import { ensureWrk, type LoadResult, runWrk } from './http/wrk.ts';
import { readCount, readNames, runAsProgram } from './options.ts';
import { MEASURED_CORE, nextMessage, PINNING, startProcess, stopProcess } from './process.ts';
import {
  describeEnvironment,
  type Environment,
  environmentLines,
  publish,
  RESULTS,
} from './report.ts';
import { median, rotate } from './statistics.ts';
import { markdownTable } from './table.ts';

const HELP = `The framework beside its peers, over HTTP.

  --only fw,hono      contestants; raw is always among them   (${Object.keys(CONTESTANTS).join(', ')})
  --workload hello    workloads                               (${WORKLOADS.join(', ')})
  --rounds 5          rounds that are measured
  --seconds 1         length of one contestant's slice of a round
  --warmup 50000      requests to each contestant before the first round
  --connections 64    connections that wrk keeps open
  --out DIR           where to write http.md and http.json; without it only whole runs are written
`;

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
  /** Of raw in the same round: raw's processor time per request by this one's; more is better. */
  readonly ratioToRaw: number;
  readonly coreShare: number;
}

interface Server {
  readonly contestant: string;
  readonly child: ChildProcess;
  readonly port: number;
}

/** Measures the contestants over HTTP, and reports. */
export async function runHttp(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      only: { type: 'string' },
      workload: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
      warmup: { type: 'string', default: '50000' },
      connections: { type: 'string', default: '64' },
      out: { type: 'string' },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const chosen = readNames(values.only, Object.keys(CONTESTANTS));
  const contestants = ['raw', ...chosen.filter((name) => name !== 'raw')];
  const workloads = readNames(values.workload, WORKLOADS);
  const settings: Settings = {
    rounds: readCount('rounds', values.rounds),
    seconds: readCount('seconds', values.seconds),
    warmup: readCount('warmup', values.warmup),
    connections: readCount('connections', values.connections),
  };
  ensureWrk();

  const packages = contestants.flatMap((name) => CONTESTANTS[name] ?? []);
  const environment = describeEnvironment(packages.filter((name) => name !== 'fw'));
  const samples: Sample[] = [];
  for (const workload of workloads) {
    samples.push(...(await measureWorkload(workload, contestants, settings)));
  }
  const summaries = summarize(samples);
  const isWhole = values.only === undefined && values.workload === undefined;
  publish(
    {
      name: 'http',
      markdown: toMarkdown(summaries, environment, settings),
      data: { environment, pinning: PINNING, settings, summaries, samples },
    },
    values.out ?? (isWhole ? RESULTS : undefined),
  );
}

/** Starts every contestant, checks them, and gives each a slice of every round. */
async function measureWorkload(
  workload: Workload,
  contestants: readonly string[],
  settings: Settings,
): Promise<readonly Sample[]> {
  const servers: Server[] = [];
  try {
    for (const contestant of contestants) servers.push(await startServer(contestant, workload));
    for (const server of servers) {
      report(workload, `warm-up: ${server.contestant}`);
      await warmUp(server, workload, settings);
    }
    const samples: Sample[] = [];
    for (let round = 1; round <= settings.rounds; round++) {
      for (const server of rotate(servers, round)) {
        const sample = await slice(server, workload, settings);
        samples.push({ workload, contestant: server.contestant, round, ...sample });
        const figures = `${sample.requestsPerSecond.toFixed()} req/s, ${sample.cpuMicrosPerRequest.toFixed(2)} µs`;
        report(workload, `round ${round} of ${settings.rounds}: ${server.contestant} ${figures}`);
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
  return { contestant, child, port };
}

/** By requests, not by time: a slow contestant needs as many to be compiled as a fast one. */
async function warmUp(server: Server, workload: Workload, settings: Settings): Promise<void> {
  for (let requests = 0; requests < settings.warmup; ) {
    requests += (await load(server, workload, { ...settings, seconds: 1 })).requests;
  }
}

async function slice(
  server: Server,
  workload: Workload,
  settings: Settings,
): Promise<Pick<Sample, 'requestsPerSecond' | 'cpuMicrosPerRequest' | 'coreShare'>> {
  const before = await cpuMicros(server.child);
  const { requests, requestsPerSecond } = await load(server, workload, settings);
  const used = (await cpuMicros(server.child)) - before;
  const passed = (requests / requestsPerSecond) * 1e6;
  return { requestsPerSecond, cpuMicrosPerRequest: used / requests, coreShare: used / passed };
}

function load(
  { contestant, port }: Server,
  workload: Workload,
  { connections, seconds }: Settings,
): Promise<LoadResult> {
  const exchanges = EXCHANGES[workload];
  return blame(contestant, workload, runWrk({ port, exchanges, connections, seconds }));
}

async function cpuMicros(child: ChildProcess): Promise<number> {
  child.send('cpu');
  const message = (await nextMessage(child)) as { cpuMicros: number };
  return message.cpuMicros;
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
  const raw = samples.find(
    ({ contestant, workload, round }) =>
      contestant === 'raw' && workload === sample.workload && round === sample.round,
  );
  return (raw?.cpuMicrosPerRequest ?? Number.NaN) / sample.cpuMicrosPerRequest;
}

function toMarkdown(
  summaries: readonly Summary[],
  environment: Environment,
  { rounds, seconds, connections }: Settings,
): string {
  const tables = WORKLOADS.flatMap((workload) => {
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
    '# HTTP',
    environmentLines(environment),
    `Medians of ${rounds} rounds of ${seconds} s; wrk with ${connections} connections; ${PINNING}. ` +
      'The ratio is of processor time per request, to raw `node:http` in the same round: more is better.',
    ...disturbance(summaries),
    ...tables,
  ].join('\n\n');
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
