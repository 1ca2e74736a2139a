import { runCancellation } from './cancellation.ts';
import { runHttp } from './http.ts';
import { runIdle } from './idle.ts';
import { runLimiter } from './limiter.ts';
import { runMcp } from './mcp.ts';
import { runRouter } from './router.ts';
import { runServices } from './services.ts';
import { runStalls } from './stalls.ts';
import { runWebSockets } from './websockets.ts';

const HELP = `npm run bench                          all benchmarks with default options; writes the tables of bench/README.md
npm run bench -- cancellation --help   what still runs after clients have left
npm run bench -- http --help           HTTP: the framework and its peers
npm run bench -- idle --help           memory of idle and slow connections, and pauses of garbage collection
npm run bench -- router --help         route lookup: the router and its peers
npm run bench -- limiter --help        stores of rate limiters
npm run bench -- mcp --help            calls of tools and HTTP requests
npm run bench -- services --help       the services and the same endpoints on fastify
npm run bench -- stalls --help         a service with and without the watch for stalls of the event loop
npm run bench -- websockets --help     memory of open WebSockets
`;

const BENCHMARKS: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  cancellation: runCancellation,
  http: runHttp,
  idle: runIdle,
  router: runRouter,
  limiter: runLimiter,
  mcp: runMcp,
  services: runServices,
  stalls: runStalls,
  websockets: runWebSockets,
};

async function main([name, ...args]: readonly string[]): Promise<void> {
  if (name === undefined) {
    for (const run of Object.values(BENCHMARKS)) await run([]);
    return;
  }
  const run = BENCHMARKS[name];
  if (name === '--help') process.stdout.write(HELP);
  else if (run) await run(args);
  else
    throw new RangeError(
      `Cannot run "${name}": expected one of ${Object.keys(BENCHMARKS).join(', ')}`,
    );
}

try {
  await main(process.argv.slice(2));
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
