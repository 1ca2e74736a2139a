import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rotate } from '../deploy/local/testing/statistics.ts';
import { ensureTool } from '../tools/programs.ts';
import { CONTESTANTS, type Contestant, loadContestant } from './http/contestant.ts';
import { checkParity } from './http/parity.ts';
import { httpSection, type Sample, type Summary, speedChart, summarize } from './http/section.ts';
import { bareOf, exchangesOf, WORKLOADS, type Workload } from './http/workloads.ts';
import { type LoadResult, runWrk } from './http/wrk.ts';
import { readSettings } from './options.ts';
import { type MeasuredProcess, PINNING, startMeasured } from './process.ts';
import { describeEnvironment, publish } from './report.ts';

const CHART = fileURLToPath(new URL('../docs/speed.svg', import.meta.url));
const SERVER = fileURLToPath(new URL('http/server.ts', import.meta.url));

type Counts = Readonly<Record<'rounds' | 'seconds' | 'warmup' | 'connections', number>>;

interface Server {
  readonly contestant: string;
  readonly workload: Workload;
  readonly process: MeasuredProcess<number, number>;
}

/** Measures the contestants over HTTP and prints a report. */
export async function runHttp(args: readonly string[]): Promise<void> {
  const settings = readSettings(args, {
    summary: 'Compares the framework with its peers over HTTP.',
    names: {
      only: {
        help: 'contestants; always includes raw and the framework that a contestant is built on',
        known: CONTESTANTS,
      },
      workload: {
        help: 'workloads; an add-on includes the bare workload that it is compared with',
        known: WORKLOADS,
      },
    },
    counts: {
      rounds: { help: 'measured rounds', default: 5 },
      seconds: { help: 'seconds that one contestant is measured per round', default: 1 },
      warmup: { help: 'requests to each contestant before the first round', default: 50_000 },
      connections: { help: 'open connections of wrk', default: 64 },
    },
  });
  if (!settings) return;
  ensureTool('wrk');
  const { names, counts } = settings;
  const all = new Map<string, Contestant>();
  for (const name of CONTESTANTS) all.set(name, await loadContestant(name));
  const bases = names.only.flatMap((name) => all.get(name)?.over ?? []);
  const chosen = new Set(['raw', ...bases, ...names.only]);
  const contestants = new Map([...all].filter(([name]) => chosen.has(name)));
  const workloads = WORKLOADS.filter((workload) => names.workload.includes(workload));

  const packages = [...contestants.values()].flatMap((contestant) => contestant.packages);
  const environment = describeEnvironment(packages);
  const samples: Sample[] = [];
  for (const [bare, group] of Map.groupBy(workloads, bareOf)) {
    // In the same rounds: the report shows the difference between an add-on and its bare workload.
    const together = [...new Set([bare, ...group])];
    samples.push(...(await measureGroup(together, contestants, counts)));
  }
  const summaries = summarize(samples, contestants);
  const section = httpSection({ environment, rounds: counts.rounds, summaries });
  publish(
    {
      name: 'http',
      markdown: [...disturbance(summaries), section].join('\n\n'),
      section,
      data: { environment, settings: counts, pinning: PINNING, summaries, samples },
    },
    settings,
  );
  if (settings.isComplete && settings.out === undefined) {
    writeFileSync(CHART, speedChart(summaries));
  }
}

/** Starts and checks every contestant, then measures each of them in every round. */
async function measureGroup(
  workloads: readonly Workload[],
  contestants: ReadonlyMap<string, Contestant>,
  counts: Counts,
): Promise<readonly Sample[]> {
  const servers: Server[] = [];
  try {
    for (const [contestant, { workloads: own }] of contestants) {
      for (const workload of workloads.filter((each) => own.includes(each))) {
        const process = await startMeasured<number, number>(SERVER, contestant, workload);
        servers.push({ contestant, workload, process });
        await naming(contestant, workload, checkParity(process.ready, workload));
      }
    }
    for (const server of servers) {
      report(server.workload, `warm-up: ${server.contestant}`);
      await warmUp(server, counts);
    }
    const samples: Sample[] = [];
    for (let round = 1; round <= counts.rounds; round++) {
      // An add-on runs directly after its bare workload.
      const order = rotate([...contestants.keys()], round).flatMap((name) =>
        servers.filter(({ contestant }) => contestant === name),
      );
      for (const server of order) {
        const sample = { ...(await measure(server, counts)), round };
        samples.push(sample);
        const { contestant, workload, requestsPerSecond, cpuMicrosPerRequest } = sample;
        const result = `${requestsPerSecond.toFixed()} req/s, ${cpuMicrosPerRequest.toFixed(2)} µs`;
        report(workload, `round ${round} of ${counts.rounds}: ${contestant} ${result}`);
      }
    }
    return samples;
  } finally {
    for (const { process } of servers) await process.stop();
  }
}

/** Counts requests, not time: V8 compiles a slow contestant after as many requests as a fast one. */
async function warmUp(server: Server, counts: Counts): Promise<void> {
  for (let requests = 0; requests < counts.warmup; ) {
    requests += (await load(server, { ...counts, seconds: 1 })).requests;
  }
}

async function measure(server: Server, counts: Counts): Promise<Omit<Sample, 'round'>> {
  const { contestant, workload, process } = server;
  const before = await process.request();
  const { requests, requestsPerSecond } = await load(server, counts);
  const cpuMicros = (await process.request()) - before;
  const elapsedMicros = (requests / requestsPerSecond) * 1e6;
  return {
    contestant,
    workload,
    requestsPerSecond,
    cpuMicrosPerRequest: cpuMicros / requests,
    coreShare: cpuMicros / elapsedMicros,
  };
}

function load(server: Server, { connections, seconds }: Counts): Promise<LoadResult> {
  const { contestant, workload, process } = server;
  const url = `http://127.0.0.1:${process.ready}`;
  const requests = exchangesOf(workload);
  const result = runWrk({ url, requests, connections, seconds });
  return naming(contestant, workload, result);
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

/** A warning if other programs used the core of the contestants. */
function disturbance(summaries: readonly Summary[]): readonly string[] {
  const groups = Map.groupBy(summaries, ({ workload }) => workload);
  const shares = [...groups].flatMap(([workload, own]) => {
    const lowest = Math.min(...own.map(({ coreShare }) => coreShare));
    return lowest < 0.9 ? [`${workload} ${(lowest * 100).toFixed()} %`] : [];
  });
  if (shares.length === 0) return [];
  return [
    '**Disturbed: other programs ran on the machine.** Lowest share of its core that a contestant ' +
      `got: ${shares.join(', ')}. In these workloads req/s are invalid and ratios unreliable.`,
  ];
}
