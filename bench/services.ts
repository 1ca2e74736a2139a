import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { buildService } from '@fw/service/build';
import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { median, rotate } from '../deploy/local/testing/statistics.ts';
import { ensureTool } from '../tools/programs.ts';
import { runWrk } from './http/wrk.ts';
import { readCount, readNames, readOptions, runAsProgram } from './options.ts';
import { PINNING } from './process.ts';
import { describeEnvironment, environmentLines, publish } from './report.ts';
import { ENDPOINTS, type Endpoint } from './services/endpoints.ts';
import { checkParity } from './services/parity.ts';
import { type Server, type ServiceName, startEdge, startServer } from './services/server.ts';

const SERVICES = [...new Set(ENDPOINTS.map(({ service }) => service))];
const USERS = 200;

const HELP = `Compares six endpoints of the services with the same endpoints on fastify, directly and behind nginx.

  --only users,catalog   services (${SERVICES.join(', ')})
  --rounds 9             measured rounds
  --seconds 2            seconds that one server is measured per round
  --connections 64       open connections of wrk
  --out DIR              folder of the JSON file with every sample (default .local/bench)
`;

/** One server, reached in one way. */
interface Target {
  readonly server: Server;
  readonly way: 'directly' | 'behind nginx';
  readonly port: number;
}

/** The result of one round of one target. */
interface Sample {
  readonly endpoint: string;
  readonly server: Server['name'];
  readonly way: Target['way'];
  readonly round: number;
  readonly requestsPerSecond: number;
  readonly cpuMicrosPerRequest: number;
}

interface Settings {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

/** Measures the services and fastify, and prints a report. */
export async function runServices(args: readonly string[]): Promise<void> {
  const values = readOptions(args, HELP, {
    only: { type: 'string' },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '64' },
  });
  if (!values) return;
  const services = readNames(values.only, SERVICES);
  const settings: Settings = {
    rounds: readCount('rounds', values.rounds),
    seconds: readCount('seconds', values.seconds),
    connections: readCount('connections', values.connections),
  };
  ensureTool('wrk');
  ensureTool('nginx');

  const directory = mkdtempSync(join(tmpdir(), 'fw-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const samples: Sample[] = [];
  for (const service of services) {
    samples.push(...(await measureService(service, join(directory, service), settings)));
  }
  const environment = describeEnvironment(['fastify', 'pino', 'prom-client', 'zod']);
  publish(
    {
      name: 'services',
      markdown: [
        environmentLines(environment),
        `Medians of ${settings.rounds} rounds of ${settings.seconds} s; wrk with ` +
          `${settings.connections} connections; ${PINNING}. Ratios compare fw with fastify in the same ` +
          'round: above 1, fw is better.',
        ...disturbance(samples),
        toTable(samples),
      ].join('\n\n'),
      data: { environment, settings, samples },
    },
    { isComplete: values.only === undefined, out: values.out },
  );
}

async function measureService(
  service: ServiceName,
  directory: string,
  settings: Settings,
): Promise<readonly Sample[]> {
  mkdirSync(directory);
  const bundle = join(directory, 'main.js');
  const root = resolve(import.meta.dirname, '..');
  await buildService({ root, entry: `services/${service}/src/main.ts`, outfile: bundle });
  const { userIds, files } = await fillDatabases(service, directory, bundle);
  const servers = [
    await startServer({ service, databaseFile: files[0], bundle }),
    await startServer({ service, databaseFile: files[1] }),
  ] as const;
  try {
    // The two servers run directly after each other: other programs disturb both alike.
    const targets: Target[] = servers.map((server) => {
      return { server, way: 'directly', port: server.port };
    });
    for (const server of servers) {
      const port = await startEdge(server.port, join(directory, `edge-${server.name}`));
      targets.push({ server, way: 'behind nginx', port });
    }
    const samples: Sample[] = [];
    for (const endpoint of ENDPOINTS.filter((each) => each.service === service)) {
      await checkParity(endpoint, userIds, [servers[0].port, servers[1].port]);
      samples.push(...(await measureEndpoint(endpoint, userIds, targets, settings)));
    }
    return samples;
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** Creates two equal databases: our service fills one (the catalog imports its data at start), then it is copied. */
async function fillDatabases(service: ServiceName, directory: string, bundle: string) {
  const files = [join(directory, 'fw.db'), join(directory, 'fastify.db')] as const;
  const userIds: string[] = [];
  if (service === 'reports') return { userIds, files };
  const server = await startServer({ service, databaseFile: files[0], bundle });
  for (let index = 0; service === 'users' && index < USERS; index++) {
    const response = await fetch(`http://127.0.0.1:${server.port}/api/v1/users`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: `User ${index}`, email: `user.${index}@example.org` }),
    });
    userIds.push(((await response.json()) as { data: { id: string } }).data.id);
  }
  await server.stop();
  copyFileSync(...files);
  return { userIds, files };
}

async function measureEndpoint(
  endpoint: Endpoint,
  userIds: readonly string[],
  targets: readonly Target[],
  { rounds, seconds, connections }: Settings,
): Promise<readonly Sample[]> {
  const { service, name, method, status, body, headers } = endpoint;
  const exchanges = endpoint
    .paths(userIds)
    .map((path) => ({ method, path, status, expected: undefined, ...(body && { body }) }));
  const samples: Sample[] = [];
  // Round 0 is the warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const { server, way, port } of rotate(targets, round)) {
      const before = await server.cpuSeconds();
      const load = { port, exchanges, connections, seconds, headers: headers?.() ?? {} };
      const { requests, requestsPerSecond } = await runWrk(load);
      const cpuMicrosPerRequest = (((await server.cpuSeconds()) - before) * 1e6) / requests;
      process.stderr.write(
        `services, ${service} ${name}, ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}: ` +
          `${server.name} ${way} ${requestsPerSecond.toFixed()} req/s, ${cpuMicrosPerRequest.toFixed(1)} µs\n`,
      );
      if (round === 0) continue;
      const sample = { endpoint: `${service} ${name}`, server: server.name, way, round };
      samples.push({ ...sample, requestsPerSecond, cpuMicrosPerRequest });
    }
  }
  return samples;
}

/** A warning if other programs used the core of the servers: requests per second then depend on them. */
function disturbance(samples: readonly Sample[]): readonly string[] {
  const shares = samples.map((each) => (each.cpuMicrosPerRequest * each.requestsPerSecond) / 1e6);
  const share = median(shares);
  if (share >= 0.8) return [];
  return [
    `**Disturbed: other programs ran on the machine.** The servers got ${(share * 100).toFixed()} % of ` +
      'their core, so the ratios of requests per second are unreliable.',
  ];
}

function toTable(samples: readonly Sample[]): string {
  const rows = [...Map.groupBy(samples, ({ endpoint }) => endpoint)].map(([endpoint, own]) => {
    const of = (server: Server['name'], way: Target['way']) =>
      own.filter((sample) => sample.server === server && sample.way === way);
    const cpu = pair(of('fw', 'directly'), of('fastify', 'directly'), 'cpuMicrosPerRequest');
    const nginx = pair(
      of('fw', 'behind nginx'),
      of('fastify', 'behind nginx'),
      'requestsPerSecond',
    );
    return [
      endpoint,
      (1 / cpu.ratio).toFixed(2),
      cpu.fw.toFixed(1),
      cpu.fastify.toFixed(1),
      nginx.ratio.toFixed(2),
      nginx.fw.toFixed(),
      nginx.fastify.toFixed(),
    ];
  });
  const head = ['', 'CPU ratio', 'fw µs', 'fastify µs', 'nginx ratio', 'fw req/s', 'fastify req/s'];
  return markdownTable(head, rows);
}

/** The medians of both servers, and of their ratios within the rounds. */
function pair(
  fw: readonly Sample[],
  fastify: readonly Sample[],
  field: 'cpuMicrosPerRequest' | 'requestsPerSecond',
) {
  const ratios = fw.map((sample) => {
    const peer = fastify.find(({ round }) => round === sample.round);
    return sample[field] / (peer?.[field] ?? Number.NaN);
  });
  const medianOf = (samples: readonly Sample[]) => median(samples.map((sample) => sample[field]));
  return { fw: medianOf(fw), fastify: medianOf(fastify), ratio: median(ratios) };
}

if (import.meta.main) await runAsProgram(runServices);
