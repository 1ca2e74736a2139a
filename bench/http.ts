import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureTool } from '../tools/programs.ts';
import { type Contestant, loadContestants } from './contestant.ts';
import { type ContestantProcess, startContestant } from './contestant-process.ts';
import { checkParity } from './http/parity.ts';
import { httpLines, type Sample, speedChart, summarize } from './http/section.ts';
import { compare, type LoadedServer, warmUp } from './http/together.ts';
import {
  ADD_ONS,
  bareOf,
  COMPARED_WORKLOADS,
  exchangesOf,
  WORKLOADS,
  type Workload,
} from './http/workloads.ts';
import { runWrk } from './http/wrk.ts';
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
      seconds: { help: 'turns of a second per round; the median counts', default: 3 },
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

/** Compares both of a pair in new processes. */
async function measurePair(pair: Pair, round: number, counts: Counts): Promise<Sample> {
  const { contestant, workload } = pair.measured;
  report(workload, `round ${round} of ${counts.rounds}: ${contestant}`);
  const processes: ContestantProcess[] = [];
  const start = async (entry: Entry): Promise<LoadedServer> => {
    const process = await startContestant(entry.contestant, [entry.workload]);
    processes.push(process);
    const { port } = process;
    if (round === 1) await naming(entry, checkParity(port, entry.workload));
    const load = { port, requests: exchangesOf(entry.workload), connections: counts.connections };
    return {
      cpuMicros: () => process.request('cpu'),
      load: (seconds) => naming(entry, runWrk({ ...load, seconds })),
    };
  };
  try {
    const servers = [await start(pair.measured), await start(pair.reference)] as const;
    await warmUp(servers);
    const { measured, reference } = await compare(...servers, counts.seconds);
    const texts = [measured, reference].map((micros) => `${micros.toFixed(2)} µs`);
    report(workload, `${contestant} ${texts.join(', reference ')}`);
    return { workload, contestant, round, cpuMicros: measured, referenceMicros: reference };
  } finally {
    for (const process of processes) await process.stop();
  }
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
