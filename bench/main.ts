import { runHttp } from './http.ts';
import { runLimiter } from './limiter/limiter.ts';
import { runAsProgram } from './options.ts';
import { runRouter } from './router.ts';
import { runServices } from './services.ts';
import { runStart } from './start.ts';
import { runStores } from './stores.ts';

const HELP = `npm run bench                     all of them, with their defaults; writes the tables of bench/README.md
npm run bench -- http --help      over HTTP, beside the peers
npm run bench -- router --help    the router alone
npm run bench -- start --help     from the start of a process to its first answer
npm run bench -- limiter --help   the stores of rate limiters
npm run bench -- services --help  the services beside fastify
npm run bench -- stores --help    the PostgreSQL store of the users service beside pg
`;

const BENCHMARKS: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  http: runHttp,
  start: runStart,
  router: runRouter,
  limiter: runLimiter,
  services: runServices,
  stores: runStores,
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

await runAsProgram(main);
