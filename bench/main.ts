import { runCancellation } from './cancellation.ts';
import { runGrowth } from './growth.ts';
import { runHttp } from './http.ts';
import { runIdle } from './idle.ts';
import { runLimiter } from './limiter.ts';
import { runMcp } from './mcp.ts';
import { runRouter } from './router.ts';
import { runServices } from './services.ts';
import { runStalls } from './stalls.ts';
import { runWebSockets } from './websockets.ts';

type Benchmark = readonly [run: (args: readonly string[]) => Promise<void>, help: string];

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  cancellation: [runCancellation, 'what still runs after clients have left'],
  growth: [runGrowth, 'time and memory by the number of routes, rows and keys'],
  http: [runHttp, 'HTTP: the framework and its peers'],
  idle: [runIdle, 'memory of idle and slow connections, and pauses of garbage collection'],
  router: [runRouter, 'route lookup: the router and its peers'],
  limiter: [runLimiter, 'stores of rate limiters'],
  mcp: [runMcp, 'calls of tools and HTTP requests'],
  services: [runServices, 'the services and the same endpoints on fastify'],
  stalls: [runStalls, 'a service with and without the watch for stalls of the event loop'],
  websockets: [runWebSockets, 'memory of open WebSockets'],
};

async function main([name, ...args]: readonly string[]): Promise<void> {
  if (name === undefined) {
    for (const [run] of Object.values(BENCHMARKS)) await run([]);
  } else if (name === '--help') {
    describe('', 'all benchmarks with default options; writes the tables of bench/README.md');
    for (const [own, [, help]] of Object.entries(BENCHMARKS)) describe(`-- ${own} --help`, help);
  } else if (Object.hasOwn(BENCHMARKS, name)) {
    await BENCHMARKS[name]?.[0](args);
  } else {
    const names = Object.keys(BENCHMARKS).join(', ');
    throw new RangeError(`Cannot run "${name}": expected one of ${names}`);
  }
}

function describe(args: string, help: string): void {
  process.stdout.write(`npm run bench ${args.padEnd(24)} ${help}\n`);
}

try {
  await main(process.argv.slice(2));
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
