import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureTool } from '../tools/programs.ts';
import { type Contestant, loadContestants } from './contestant.ts';
import { type ContestantProcess, startContestant } from './contestant-process.ts';
import { checkParity } from './http/parity.ts';
import { httpLines, type Sample, speedChart, summarize } from './http/section.ts';
import {
  ADD_ONS,
  bareOf,
  COMPARED_WORKLOADS,
  exchangesOf,
  WORKLOADS,
  type Workload,
} from './http/workloads.ts';
import { runWrk, warmUp } from './http/wrk.ts';
import { readSettings } from './options.ts';
import { PINNING } from './process.ts';
import { publish } from './report.ts';

const CHART = fileURLToPath(new URL('../docs/speed.svg', import.meta.url));

type Counts = Readonly<Record<'rounds' | 'seconds' | 'connections', number>>;

/** A contestant with a workload. */
interface Entry {
  readonly contestant: string;
  readonly workload: Workload;
}

interface Pair {
  readonly measured: Entry;
  /** What it is compared with. */
  readonly reference: Entry;
}

interface Server extends Entry {
  readonly process: ContestantProcess;
}

/** Measures the contestants over HTTP and prints a report. */
export async function runHttp(args: readonly string[]): Promise<void> {
  const all = await loadContestants();
  const settings = readSettings(args, {
    summary: 'Compares the framework with its peers over HTTP.',
    names: {
      only: {
        help: 'contestants; always includes raw and the framework that a contestant is built on',
        known: [...all.keys()],
      },
      workload: { help: 'workloads', known: [...COMPARED_WORKLOADS, ...ADD_ONS] },
    },
    counts: {
      rounds: { help: 'measured rounds, each with new processes', default: 3 },
      seconds: { help: 'seconds per round in which a contestant is measured', default: 2 },
      connections: { help: 'open connections of wrk', default: 64 },
    },
  });
  if (!settings) return;
  ensureTool('wrk');
  const { names, counts } = settings;
  const bases = names.only.flatMap((name) => all.get(name)?.over ?? []);
  const chosen = new Set(['raw', ...bases, ...names.only]);
  const contestants = new Map([...all].filter(([name]) => chosen.has(name)));
  const workloads = WORKLOADS.filter((workload) => names.workload.includes(workload));

  const pairs = workloads.flatMap((workload) => pairsOf(workload, contestants));
  const samples: Sample[] = [];
  for (let round = 1; round <= counts.rounds; round++) {
    for (const pair of pairs) samples.push(await measurePair(pair, round, counts));
  }
  const summaries = summarize(samples);
  const report = {
    name: 'http',
    packages: [...contestants.values()].flatMap(({ packages }) => packages),
    lines: httpLines(summaries, counts.rounds),
    data: { settings: counts, pinning: PINNING, summaries, samples },
  };
  publish(report, settings);
  if (settings.isComplete && settings.out === undefined) {
    writeFileSync(CHART, speedChart(summaries));
  }
}

/** The contestants with this workload: beside `raw`, or, for an add-on, beside the bare workload. */
function pairsOf(
  workload: Workload,
  contestants: ReadonlyMap<string, Contestant>,
): readonly Pair[] {
  const bare = bareOf(workload);
  return [...contestants].flatMap(([contestant, { routes, over = contestant }]) => {
    const base = workload === bare ? 'raw' : over;
    const isReference = workload === bare && contestant === base;
    if (isReference || !routes.includes(workload)) return [];
    const reference = { contestant: base, workload: bare };
    return { measured: { contestant, workload }, reference };
  });
}

/** Measures both of a pair at the same time, in new processes: V8 shrinks the heap of one that was idle. */
async function measurePair(pair: Pair, round: number, counts: Counts): Promise<Sample> {
  const { contestant, workload } = pair.measured;
  report(workload, `round ${round} of ${counts.rounds}: ${contestant}`);
  const servers: Server[] = [];
  try {
    for (const entry of [pair.measured, pair.reference]) {
      const process = await startContestant(entry.contestant, [entry.workload]);
      servers.push({ ...entry, process });
      if (round === 1) await naming(entry, checkParity(process.port, entry.workload));
    }
    await Promise.all(servers.map((server) => warmUpServer(server, counts)));
    const times = await Promise.all(servers.map((server) => measure(server, counts)));
    const [cpuMicros = Number.NaN, referenceMicros = Number.NaN] = times;
    const texts = times.map((micros) => `${micros.toFixed(2)} µs`);
    report(workload, `${contestant} ${texts.join(', reference ')}`);
    return { workload, contestant, round, cpuMicros, referenceMicros };
  } finally {
    for (const { process } of servers) await process.stop();
  }
}

function warmUpServer(server: Server, counts: Counts): Promise<void> {
  return warmUp(
    () => server.process.request('cpu'),
    () => load(server, { ...counts, seconds: 1 }),
  );
}

/** The microseconds of CPU time per request. */
async function measure(server: Server, counts: Counts): Promise<number> {
  const before = await server.process.request('cpu');
  const requests = await load(server, counts);
  return ((await server.process.request('cpu')) - before) / requests;
}

function load(server: Server, { connections, seconds }: Counts): Promise<number> {
  const requests = exchangesOf(server.workload);
  return naming(server, runWrk({ port: server.process.port, requests, connections, seconds }));
}

/** Adds contestant and workload to the message of an error. */
async function naming<T>({ contestant, workload }: Entry, work: Promise<T>): Promise<T> {
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
