import fs from 'node:fs';
import path from 'node:path';

import { planEdge } from '../../../deploy/local/processes/edge.ts';
import type { ProcessPlan } from '../../../deploy/local/processes/process.ts';
import type { Stores } from '../../../deploy/local/processes/stores.ts';
import { planReplica, type Replica, replicasOf } from '../../../deploy/local/processes/system.ts';
import { foldersOf } from '../../../deploy/local/state.ts';
import { freePortsFrom } from '../../../deploy/local/testing/ports.ts';
import { readOrCreateSecret } from '../../../deploy/local/token.ts';
import { SERVICE_NAMES, type ServiceName } from '../../../services/services.ts';
import { ensureTool } from '../../../tools/programs.ts';
import { startProcesses } from '../processes.ts';
import { createEnvironment, type Environment } from './environment.ts';
import type { Part, PartName } from './part.ts';
import type { Setup } from './setup.ts';

/** The processes of the services and of the edge. */
export interface Services extends Omit<Environment, 'env'> {
  /** The address of the edge. */
  readonly origin: string;
  readonly replicas: readonly Replica[];
  /** The secret that signs tokens. */
  readonly secret: string;
  readonly parts: Partial<Record<PartName, Part>>;
  /** The names of the processes that do not run. */
  findEnded(): readonly string[];
}

/** Starts the services, and the edge, which connects to them through proxies. */
export async function startServices(
  { disk, toxiproxy, stops, hasClock = false }: Setup,
  stores: Stores,
): Promise<Services> {
  const folders = foldersOf(disk.folder);
  fs.mkdirSync(folders.data, { recursive: true });
  const secret = readOrCreateSecret(folders.run);
  const { env, ...environment } = createEnvironment(disk.folder, { hasClock });
  const offsets = replicasOf(0).flatMap(({ port, healthPort }) => [port, healthPort]);
  const port = await freePortsFrom([0, ...offsets]);
  const replicas = replicasOf(port);

  const proxies = await Promise.all(
    replicas.map((replica) => toxiproxy.createProxy(replica.name, replica.port)),
  );
  const proxiesOf = (service: ServiceName) =>
    proxies.filter((_, index) => replicas[index]?.service === service);
  // The services call each other through the edge, which itself looks up no names.
  const callsOfUsers = await toxiproxy.createProxy('calls-of-users', port);
  const callsOfCatalog = await toxiproxy.createProxy('calls-of-catalog', port);

  const start = async (plans: readonly ProcessPlan[]) => {
    const own = plans.map((plan) => ({ ...plan, env: { ...plan.env, ...env } }));
    const processes = await startProcesses(own, folders.logs);
    stops.push(processes.stop);
    return processes;
  };
  const startService = (name: ServiceName) => {
    const plans = replicas
      .filter(({ service }) => service === name)
      .map((replica) => planReplica(replica, { folders, env: stores, edgePort: port }));
    const calls = {
      USERS_URL: `http://users.test:${callsOfUsers.port}`,
      CATALOG_URL: `http://catalog.test:${callsOfCatalog.port}`,
    };
    return start(plans.map((plan) => ({ ...plan, env: { ...plan.env, ...calls } })));
  };
  const [users, catalog, reports] = await Promise.all([
    startService('users'),
    startService('catalog'),
    startService('reports'),
  ]);
  const prefix = path.join(folders.run, 'nginx');
  const upstreams = Object.fromEntries(
    SERVICE_NAMES.map((name) => [name, proxiesOf(name).map((proxy) => proxy.port)]),
  ) as Record<ServiceName, number[]>;
  const edge = await start([planEdge({ nginx: ensureTool('nginx'), port, upstreams, prefix })]);

  const partOf = (name: 'users' | 'catalog') => ({
    hostName: `${name}.test`,
    proxies: proxiesOf(name),
    namedProxies: [name === 'users' ? callsOfUsers : callsOfCatalog],
  });
  return {
    ...environment,
    origin: `http://127.0.0.1:${port}`,
    replicas,
    secret,
    parts: {
      users: { ...users, ...partOf('users') },
      catalog: { ...catalog, ...partOf('catalog') },
    },
    findEnded: () => [users, catalog, reports, edge].flatMap((one) => one.findEnded()),
  };
}
