import { fileURLToPath } from 'node:url';
import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { median, rotate } from '../deploy/local/testing/statistics.ts';
import { readSettings } from './options.ts';
import { type MeasuredProcess, startMeasured } from './process.ts';
import { publish } from './report.ts';
import { ROUTERS } from './router/peers.ts';
import { KINDS, type Kind } from './router/routes.ts';

const SERVER = fileURLToPath(new URL('router/server.ts', import.meta.url));
/** Creates the path and finds no route; its CPU time is subtracted from that of the others. */
const EMPTY = 'empty';

/** The lookup times of one router with one number of routes. */
interface Result {
  readonly router: string;
  readonly size: number;
  /** Median nanoseconds of CPU time per lookup, without creating the path. */
  readonly nanos: Readonly<Record<Kind, number>>;
}

/** Measures the routers and prints a report. */
export async function runRouter(args: readonly string[]): Promise<void> {
  const settings = readSettings(args, {
    summary: 'Compares the router with its peers: from method and path to route and parameters.',
    names: {
      only: { help: 'routers', known: Object.keys(ROUTERS) },
      sizes: { help: 'numbers of routes', known: ['10', '1000', '10000'] },
    },
    counts: { rounds: { help: 'measured rounds', default: 7 } },
  });
  if (!settings) return;
  const { only: routers, sizes } = settings.names;
  const { rounds } = settings.counts;

  const results: Result[] = [];
  for (const size of sizes) results.push(...(await measureSize(Number(size), routers, rounds)));
  const packages = routers.flatMap((name) => ROUTERS[name]?.package ?? []);
  const lines = toLines(results, rounds);
  publish({ name: 'router', packages, lines, data: { rounds, results } }, settings);
}

/** Starts every router in its own process; each measures all kinds of routes in every round. */
async function measureSize(
  size: number,
  routers: readonly string[],
  rounds: number,
): Promise<readonly Result[]> {
  const processes = new Map<string, MeasuredProcess<unknown, readonly number[]>>();
  try {
    for (const name of [EMPTY, ...routers]) {
      process.stderr.write(`router, ${size} routes, checking and warming up: ${name}\n`);
      processes.set(name, await startMeasured(SERVER, name, String(size)));
    }
    const measured: Map<string, readonly number[]>[] = [];
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`router, ${size} routes, round ${round} of ${rounds}\n`);
      const nanos = new Map<string, readonly number[]>();
      for (const [name, process] of rotate([...processes], round)) {
        nanos.set(name, await process.request());
      }
      measured.push(nanos);
    }
    return routers.map((router) => ({ router, size, nanos: summarize(router, measured) }));
  } finally {
    for (const process of processes.values()) await process.stop();
  }
}

function summarize(
  router: string,
  rounds: readonly ReadonlyMap<string, readonly number[]>[],
): Record<Kind, number> {
  const lookup = (kind: number) =>
    median(
      rounds.map((round) => (round.get(router)?.[kind] ?? 0) - (round.get(EMPTY)?.[kind] ?? 0)),
    );
  return Object.fromEntries(KINDS.map((kind, index) => [kind, lookup(index)])) as Record<
    Kind,
    number
  >;
}

function toLines(results: readonly Result[], rounds: number): readonly string[] {
  const sizes = [...new Set(results.map(({ size }) => size))];
  const routers = [...new Set(results.map(({ router }) => router))];
  const rows = routers.map((router) => [
    router,
    ...KINDS.map((kind) => {
      const own = results.filter((result) => result.router === router);
      return own.map(({ nanos }) => nanos[kind].toFixed()).join(' / ');
    }),
  ]);
  return [
    `Nanoseconds of CPU time per lookup among ${sizes.map((size) => size.toLocaleString('en')).join(' / ')} ` +
      `routes, medians of ${rounds} rounds: less is better.`,
    markdownTable(['', ...KINDS], rows),
  ];
}
