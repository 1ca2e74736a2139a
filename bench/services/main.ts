import { fileURLToPath } from 'node:url';

import { ensureTool } from '../../deploy/local/tools.ts';
import { readCount, readNames, readOptions, runAsProgram } from '../options.ts';
import { LOAD_CORE, nextMessage, PINNING, pinThisProcess, startProcess } from '../process.ts';
import { describeEnvironment, publish, RESULTS } from '../report.ts';
import { bundleServer } from './bundle.ts';
import { CONTESTANTS, OURS, STORES } from './contestant.ts';
import { createDatabases } from './databases.ts';
import { type Endpoint, SERVICES, type ServiceName } from './endpoint.ts';
import { CATALOG_ENDPOINTS } from './endpoints/catalog.ts';
import { REPORTS_ENDPOINTS } from './endpoints/reports.ts';
import { USERS_ENDPOINTS } from './endpoints/users.ts';
import { toMarkdown } from './markdown.ts';
import { measureGroup, type Pace, type Sample, WAYS } from './measure.ts';
import { createScratch } from './scratch.ts';
import { measureStarts } from './starts.ts';
import { measureStores } from './stores.ts';
import { summarize, summarizeCosts } from './summary.ts';

const PARTS = [...SERVICES, 'stores', 'start'] as const;

const HELP = `The three services beside the same ones on fastify, their stores, and how they start.

  --quick             one short round, on SQLite: a look within two minutes
  --only users,start  parts (${PARTS.join(', ')})
  --store sqlite      stores behind the endpoints (${STORES.join(', ')})
  --endpoint v2/:id   only endpoints whose name holds this; may be there several times
  --costs             only ours, directly: what log, metrics, ids and the rest add to a request
  --rounds 3          rounds that are measured
  --slice 400         length of one contestant's slice of a round, in milliseconds
  --warmup 500        length of the slices before the first round, in milliseconds
  --connections 64    connections that wrk keeps open
  --out DIR           where to write services.md and .json; without it only whole runs are written
`;

const QUICK = { store: 'sqlite', rounds: '1', slice: '200', warmup: '200' };
const WHOLE = { store: undefined, rounds: '3', slice: '400', warmup: '500' };

const ENDPOINTS: Readonly<Record<ServiceName, readonly Endpoint[]>> = {
  users: USERS_ENDPOINTS,
  catalog: CATALOG_ENDPOINTS,
  reports: REPORTS_ENDPOINTS,
};

const ITEMS_FILE = fileURLToPath(
  new URL('../../services/catalog/data/items.ndjson', import.meta.url),
);

const PACKAGES = ['fastify', 'fastify-type-provider-zod', 'pino', 'prom-client', 'zod', 'pg'];

/** Measures the services, and reports. */
async function main(args: readonly string[]): Promise<void> {
  const values = readOptions(args, HELP, {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    store: { type: 'string' },
    endpoint: { type: 'string', multiple: true },
    costs: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    slice: { type: 'string' },
    warmup: { type: 'string' },
    connections: { type: 'string', default: '64' },
  });
  if (!values) return;
  const given = { ...(values.quick ? QUICK : WHOLE), ...values };
  const pace: Pace = {
    rounds: readCount('rounds', given.rounds),
    milliseconds: readCount('slice', given.slice),
    warmupMilliseconds: readCount('warmup', given.warmup),
    connections: readCount('connections', given.connections),
  };
  const parts = readNames(values.only, values.costs ? SERVICES : PARTS);
  const stores = readNames(given.store, STORES);
  ensureTool('wrk');
  ensureTool('nginx');

  pinThisProcess(LOAD_CORE); // and with it PostgreSQL
  const environment = describeEnvironment(PACKAGES);
  const directory = createScratch();
  const databases = createDatabases(directory);
  const figuresUrl = await startFigures();
  try {
    const samples: Sample[] = [];
    for (const service of SERVICES.filter((name) => parts.includes(name))) {
      const programs = await bundleServer(service, directory);
      const endpoints = ENDPOINTS[service].filter(({ name }) =>
        (values.endpoint ?? ['']).some((part) => name.includes(part)),
      );
      const field = values.costs
        ? { contestants: OURS, ways: ['direct'] as const }
        : { contestants: CONTESTANTS, ways: WAYS };
      for (const store of service === 'reports' ? (['sqlite'] as const) : stores) {
        const where = { directory, databases, itemsFile: ITEMS_FILE, figuresUrl };
        const group = { service, store, programs, endpoints, ...field, ...where };
        samples.push(...(await measureGroup(group, pace)));
      }
    }
    const endpoints = summarize(samples);
    const costs = summarizeCosts(samples);
    const rounds = 2 * pace.rounds - 1;
    const storeSamples = parts.includes('stores') ? await measureStores(rounds, databases) : [];
    const starts = parts.includes('start') ? await measureStarts(rounds, directory) : [];
    const isPart = values.quick || values.only || values.store || values.endpoint || values.costs;
    publish(
      {
        name: 'services',
        markdown: toMarkdown({ environment, pace, endpoints, costs, stores: storeSamples, starts }),
        data: {
          environment,
          pinning: PINNING,
          pace,
          endpoints,
          costs,
          stores: storeSamples,
          starts,
          samples,
        },
      },
      values.out ?? (isPart ? undefined : RESULTS),
    );
  } finally {
    await databases.close();
  }
}

/** It ends with this process. */
async function startFigures(): Promise<string> {
  const program = fileURLToPath(new URL('servers/figures.ts', import.meta.url));
  const child = startProcess([process.execPath, program], { core: LOAD_CORE, channel: true });
  const { port } = (await nextMessage(child)) as { port: number };
  return `http://127.0.0.1:${port}`;
}

await runAsProgram(main);
