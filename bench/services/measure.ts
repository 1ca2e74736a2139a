import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';

import { cpuMicrosOf, MEASURED_CORE, nextMessage, startProcess, stopProcess } from '../process.ts';
import { rotate } from '../statistics.ts';
import type { Programs } from './bundle.ts';
import { type Contestant, type Settings, type StoreName, WHOLE } from './contestant.ts';
import type { Databases } from './databases.ts';
import { type Edge, startEdge } from './edge.ts';
import { askOf, type Endpoint, type ServiceName } from './endpoint.ts';
import { type Plan, runLoad, takeNumbers, writePlan } from './load.ts';
import { expectSame, look } from './parity.ts';

/** The ways to a contestant that are measured: only what runs in production stands behind an edge. */
export const WAYS = ['direct', 'edge'] as const;
export type Way = (typeof WAYS)[number];

/** How much is measured. */
export interface Pace {
  readonly rounds: number;
  readonly milliseconds: number;
  readonly warmupMilliseconds: number;
  readonly connections: number;
}

interface Figures {
  readonly requestsPerSecond: number;
  readonly cpuMicrosPerRequest: number;
  /** Processor time by time passed. */
  readonly coreShare: number;
}

/** One contestant's slice of one round. */
export interface Sample extends Figures {
  readonly service: ServiceName;
  readonly store: StoreName;
  readonly endpoint: string;
  readonly contestant: Contestant;
  readonly way: Way;
  readonly round: number;
}

/** One service over one store. */
export interface Group extends Omit<Settings, 'store'> {
  readonly service: ServiceName;
  readonly store: StoreName;
  readonly programs: Programs;
  readonly endpoints: readonly Endpoint[];
  readonly contestants: readonly Contestant[];
  readonly ways: readonly Way[];
  readonly databases: Databases;
  /** For what is written meanwhile. */
  readonly directory: string;
}

interface Server {
  readonly contestant: Contestant;
  readonly child: ChildProcess;
  readonly port: number;
  readonly edge: Edge | undefined;
}

interface Lane {
  readonly server: Server;
  readonly way: Way;
  readonly port: number;
  readonly plan: Plan;
}

/** Starts the contestants of a group, checks that they do the same, and measures each endpoint. */
export async function measureGroup(group: Group, pace: Pace): Promise<readonly Sample[]> {
  const servers: Server[] = [];
  try {
    for (const contestant of group.contestants) servers.push(await startServer(group, contestant));
    const samples: Sample[] = [];
    for (const endpoint of group.endpoints) {
      const lanes = await prepare(group, endpoint, servers);
      samples.push(...(await measureEndpoint(group, endpoint, { lanes, pace })));
    }
    return samples;
  } finally {
    for (const { child, edge } of servers) {
      await edge?.stop();
      await stopProcess(child);
    }
  }
}

async function startServer(group: Group, contestant: Contestant): Promise<Server> {
  const { itemsFile, figuresUrl, ways } = group;
  const store = await group.databases.create(group.store);
  const settings: Settings = { store, itemsFile, figuresUrl };
  const child = startProcess(
    [
      process.execPath,
      contestant.endsWith('-bare') ? group.programs.bare : group.programs.whole,
      contestant,
      JSON.stringify(settings),
    ],
    { core: MEASURED_CORE, channel: true },
  );
  const { port } = (await nextMessage(child)) as { port: number };
  const prefix = join(group.directory, 'edges', String(port));
  const hasEdge = ways.includes('edge') && WHOLE.includes(contestant);
  const edge = hasEdge ? await startEdge(port, prefix) : undefined;
  return { contestant, child, port, edge };
}

/** Checks that each contestant gives the answers of the first, whichever way it is asked. */
async function prepare(
  group: Group,
  endpoint: Endpoint,
  servers: readonly Server[],
): Promise<readonly Lane[]> {
  const lanes: Lane[] = [];
  const first = takeNumbers();
  let expected: Awaited<ReturnType<typeof look>> | undefined;
  for (const server of servers) {
    const ask = askOf(server.port);
    await blame(group, endpoint, server, async () => {
      const sights = await look(ask, endpoint, first);
      expected ??= sights;
      expectSame(sights, expected);
      const plan = writePlan(
        `${group.directory}/${server.contestant}.lua`,
        await endpoint.requests(ask),
        endpoint,
      );
      lanes.push({ server, way: 'direct', port: server.port, plan });
      if (server.edge) lanes.push({ server, way: 'edge', port: server.edge.port, plan });
    });
  }
  return lanes;
}

async function measureEndpoint(
  group: Group,
  endpoint: Endpoint,
  { lanes, pace }: { readonly lanes: readonly Lane[]; readonly pace: Pace },
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  const { service, store } = group;
  for (let round = 0; round <= pace.rounds; round++) {
    for (const lane of rotate(lanes, round)) {
      const { server, way } = lane;
      const milliseconds = round === 0 ? pace.warmupMilliseconds : pace.milliseconds;
      await blame(group, endpoint, server, async () => {
        const figures = await slice(lane, { ...pace, milliseconds });
        report(group, endpoint, { ...lane, round, ...figures });
        if (round === 0) return; // so that the code is compiled
        const { contestant } = server;
        samples.push({
          service,
          store,
          endpoint: endpoint.name,
          contestant,
          way,
          round,
          ...figures,
        });
      });
    }
  }
  return samples;
}

function report(
  { service, store }: Group,
  { name }: Endpoint,
  figures: Lane & Figures & { readonly round: number },
): void {
  const { server, way, round, requestsPerSecond, cpuMicrosPerRequest } = figures;
  const when = round === 0 ? 'warm-up' : `round ${round}`;
  const who = way === 'direct' ? server.contestant : `${server.contestant} behind nginx`;
  process.stderr.write(
    `services, ${service} on ${store}, ${name}, ${when}: ${who} ` +
      `${requestsPerSecond.toFixed()} req/s, ${cpuMicrosPerRequest.toFixed(1)} µs\n`,
  );
}

async function slice(
  { server, plan, port }: Lane,
  { connections, milliseconds }: Pace,
): Promise<Figures> {
  const before = await cpuMicrosOf(server.child);
  const { requests, requestsPerSecond } = await runLoad({ port, plan, connections, milliseconds });
  const used = (await cpuMicrosOf(server.child)) - before;
  const passed = (requests / requestsPerSecond) * 1e6;
  return { requestsPerSecond, cpuMicrosPerRequest: used / requests, coreShare: used / passed };
}

/** Puts in front of what went wrong where it did. */
async function blame<T>(
  { service, store }: Group,
  { name }: Endpoint,
  { contestant }: Server,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${service} on ${store}, ${name}, ${contestant}: ${reason}`, { cause: error });
  }
}
