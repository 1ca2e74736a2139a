import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { median } from '../deploy/local/testing/statistics.ts';
import { ensureTool } from '../tools/programs.ts';
import { compare, type LoadedServer, warmUp } from './http/together.ts';
import { runWrk } from './http/wrk.ts';
import { readSettings } from './options.ts';
import { PINNING } from './process.ts';
import { publish } from './report.ts';
import { ENDPOINTS, type Endpoint, SERVICES } from './services/endpoints.ts';
import { checkParity } from './services/parity.ts';
import { type Server, type ServiceName, startEdge, startServers } from './services/servers.ts';

const WAYS = ['directly', 'behind nginx'] as const;

/** A server, and the nginx in front of it. */
interface Target {
  readonly server: Server;
  readonly edge: Awaited<ReturnType<typeof startEdge>>;
}

/** CPU time per request of both servers, while they share a core. */
interface Sample {
  readonly endpoint: string;
  readonly way: (typeof WAYS)[number];
  readonly round: number;
  readonly fwMicros: number;
  readonly peerMicros: number;
}

type Counts = Readonly<Record<'rounds' | 'seconds' | 'connections', number>>;

/** Measures the services and fastify, and prints a report. */
export async function runServices(args: readonly string[]): Promise<void> {
  const settings = readSettings(args, {
    summary:
      'Compares endpoints of the services with the same on fastify, directly and behind nginx.',
    names: { only: { help: 'services', known: SERVICES } },
    counts: {
      rounds: { help: 'measured rounds, each with new processes', default: 5 },
      seconds: {
        help: 'turns of a second per round, directly and behind nginx; the median counts',
        default: 3,
      },
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
  for (let round = 1; round <= counts.rounds; round++) {
    for (const service of SERVICES.filter((name) => settings.names.only.includes(name))) {
      const own = join(directory, `${service}-${round}`);
      samples.push(...(await measureService(service, { directory: own, round, counts })));
    }
  }
  const lines = [
    `Medians of ${counts.rounds} rounds; wrk with ${counts.connections} connections; ${PINNING}. CPU ` +
      'time of the server per request, directly and behind nginx; the ratio is that of the peer (fastify, ' +
      'unless the row names another) divided by that of fw in the same round: above 1, fw is better.',
    toTable(samples),
  ];
  const packages = ['fastify', 'pino', 'prom-client', 'zod'];
  publish({ name: 'services', packages, lines, data: { settings: counts, samples } }, settings);
}

interface Round {
  readonly directory: string;
  readonly round: number;
  readonly counts: Counts;
}

async function measureService(
  service: ServiceName,
  { directory, round, counts }: Round,
): Promise<readonly Sample[]> {
  mkdirSync(directory);
  const { servers, userIds } = await startServers(service, directory);
  const targets: Target[] = [];
  try {
    for (const server of servers) {
      const edge = await startEdge(server.port, join(directory, `edge-${server.name}`));
      targets.push({ server, edge });
    }
    const samples: Sample[] = [];
    for (const endpoint of ENDPOINTS.filter((each) => each.service === service)) {
      const name = `${service} ${endpoint.name}`;
      const { peer = 'fastify' } = endpoint;
      const pair = targets.filter(({ server }) => server.name === 'fw' || server.name === peer);
      // The server on node:http sends no headers of the service.
      if (round === 1 && peer === 'fastify') await checkParity(endpoint, userIds, pair);
      const measured = await measureEndpoint(endpoint, userIds, pair, counts);
      for (const result of measured) {
        const { way, fwMicros, peerMicros } = result;
        process.stderr.write(
          `services, ${name} ${way}, round ${round} of ${counts.rounds}: ` +
            `fw ${fwMicros.toFixed(1)} µs, ${peer} ${peerMicros.toFixed(1)} µs\n`,
        );
        samples.push({ endpoint: name, round, ...result });
      }
    }
    return samples;
  } finally {
    for (const { edge } of targets) await edge.stop();
    for (const server of servers) await server.stop();
  }
}

/** Compares both servers directly, and then behind their edges. */
async function measureEndpoint(
  { method, body, headers, paths }: Endpoint,
  userIds: readonly string[],
  targets: readonly Target[],
  { seconds, connections }: Counts,
) {
  const request = { method, headers: headers?.() ?? {}, ...(body && { body }) };
  const requests = paths(userIds).map((path) => ({ ...request, path }));
  const results = [];
  for (const way of WAYS) {
    const [fw, peer] = targets.map(({ server, edge }) => {
      const { port } = way === 'directly' ? server : edge;
      return {
        cpuMicros: server.cpuMicros,
        load: (seconds: number) => runWrk({ port, requests, connections, seconds }),
      };
    }) as [LoadedServer, LoadedServer];
    if (way === 'directly') await warmUp([fw, peer]);
    const { measured, reference } = await compare(fw, peer, seconds);
    results.push({ way, fwMicros: measured, peerMicros: reference });
  }
  return results;
}

function toTable(samples: readonly Sample[]): string {
  const rows = [...Map.groupBy(samples, ({ endpoint }) => endpoint)].map(([endpoint, group]) => [
    endpoint,
    ...WAYS.flatMap((way) => {
      const own = group.filter((sample) => sample.way === way);
      return [
        median(own.map(({ fwMicros, peerMicros }) => peerMicros / fwMicros)).toFixed(2),
        median(own.map(({ fwMicros }) => fwMicros)).toFixed(1),
        median(own.map(({ peerMicros }) => peerMicros)).toFixed(1),
      ];
    }),
  ]);
  const head = ['ratio', 'fw µs', 'peer µs'];
  return markdownTable(['', ...head, ...head.map((name) => `nginx: ${name}`)], rows);
}
