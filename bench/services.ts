import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { median, rotate } from '../deploy/local/testing/statistics.ts';
import { ensureTool } from '../tools/programs.ts';
import { runWrk } from './http/wrk.ts';
import { readSettings } from './options.ts';
import { PINNING } from './process.ts';
import { describeEnvironment, environmentLines, publish } from './report.ts';
import { ENDPOINTS, type Endpoint, SERVICES } from './services/endpoints.ts';
import { checkParity } from './services/parity.ts';
import { type Server, type ServiceName, startEdge, startPair } from './services/server.ts';

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

type Counts = Readonly<Record<'rounds' | 'seconds' | 'connections', number>>;

/** Measures the services and fastify, and prints a report. */
export async function runServices(args: readonly string[]): Promise<void> {
  const settings = readSettings(args, {
    summary:
      'Compares endpoints of the services with the same on fastify, directly and behind nginx.',
    names: { only: { help: 'services', known: SERVICES } },
    counts: {
      rounds: { help: 'measured rounds', default: 9 },
      seconds: { help: 'seconds that one server is measured per round', default: 2 },
      connections: { help: 'open connections of wrk', default: 64 },
    },
  });
  if (!settings) return;
  const { counts } = settings;
  ensureTool('wrk');
  ensureTool('nginx');

  const directory = mkdtempSync(join(tmpdir(), 'fw-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const samples: Sample[] = [];
  for (const service of SERVICES.filter((name) => settings.names.only.includes(name))) {
    samples.push(...(await measureService(service, join(directory, service), counts)));
  }
  const environment = describeEnvironment(['fastify', 'pino', 'prom-client', 'zod']);
  publish(
    {
      name: 'services',
      markdown: [
        environmentLines(environment),
        `Medians of ${counts.rounds} rounds of ${counts.seconds} s; wrk with ` +
          `${counts.connections} connections; ${PINNING}. Ratios compare fw with fastify in the same ` +
          'round: above 1, fw is better.',
        ...disturbance(samples),
        toTable(samples),
      ].join('\n\n'),
      data: { environment, settings: counts, samples },
    },
    settings,
  );
}

async function measureService(
  service: ServiceName,
  directory: string,
  counts: Counts,
): Promise<readonly Sample[]> {
  mkdirSync(directory);
  const { servers, userIds } = await startPair(service, directory);
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
      samples.push(...(await measureEndpoint(endpoint, userIds, targets, counts)));
    }
    return samples;
  } finally {
    for (const server of servers) await server.stop();
  }
}

async function measureEndpoint(
  endpoint: Endpoint,
  userIds: readonly string[],
  targets: readonly Target[],
  { rounds, seconds, connections }: Counts,
): Promise<readonly Sample[]> {
  const { service, name, method, body } = endpoint;
  const paths = endpoint.paths(userIds);
  const samples: Sample[] = [];
  // Round 0 is the warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const { server, way, port } of rotate(targets, round)) {
      const before = await server.cpuSeconds();
      const request = { method, headers: endpoint.headers?.() ?? {}, ...(body && { body }) };
      const { requests, requestsPerSecond } = await runWrk({
        url: `http://127.0.0.1:${port}`,
        requests: paths.map((path) => ({ ...request, path })),
        connections,
        seconds,
      });
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
    const cpu = compare(own, 'directly', 'cpuMicrosPerRequest');
    const nginx = compare(own, 'behind nginx', 'requestsPerSecond');
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
function compare(
  samples: readonly Sample[],
  way: Target['way'],
  field: 'cpuMicrosPerRequest' | 'requestsPerSecond',
) {
  const valuesOf = (name: Server['name']) =>
    samples
      .filter(({ server, way: own }) => server === name && own === way)
      .map((each) => each[field]);
  const fw = valuesOf('fw');
  const fastify = valuesOf('fastify');
  const ratios = fw.map((value, round) => value / (fastify[round] ?? Number.NaN));
  return { fw: median(fw), fastify: median(fastify), ratio: median(ratios) };
}
