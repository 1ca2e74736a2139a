import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startPostgres } from '@fw/service/testing/postgres';
import { createClient } from 'redis';

import { planEdge } from '../../../deploy/local/processes/edge.ts';
import type { ProcessPlan } from '../../../deploy/local/processes/process.ts';
import { planReplica, type Replica, replicasOf } from '../../../deploy/local/processes/system.ts';
import { foldersOf } from '../../../deploy/local/state.ts';
import { freePortsFrom } from '../../../deploy/local/testing/ports.ts';
import { readOrCreateSecret } from '../../../deploy/local/token.ts';
import { ensureTool } from '../../../deploy/local/tools.ts';
import { startRedisServer } from '../../../framework/rate-limit/src/testing/redis-server.ts';
import { SERVICE_NAMES, type ServiceName } from '../../../services/services.ts';
import { createDisk, type Disk } from './disk.ts';
import { type Processes, startProcesses } from './processes.ts';
import { type PartProxy, startToxiproxy, type Toxiproxy } from './toxiproxy.ts';

/** The parts of the system that can fail. */
export type PartName = 'PostgreSQL' | 'SQLite' | 'Valkey' | 'users' | 'catalog' | 'clock';

/** The processes of a part, and the connections to them. */
export interface Part extends Pick<Processes, 'kill' | 'restart' | 'pause' | 'resume'> {
  /** The name that its clients look up. */
  readonly hostName: string;
  /** Its clients connect through these. */
  readonly proxies: readonly PartProxy[];
  /** The connections of the clients that look up its name. */
  readonly namedProxies: readonly PartProxy[];
}

export interface FaultySystemOptions {
  /** Where users and catalog keep their data. */
  readonly database: 'PostgreSQL' | 'SQLite';
  /** Whether `setClock` works, which needs libfaketime. Default false. */
  readonly hasClock?: boolean;
}

/** The whole system, behind proxies. */
export interface FaultySystem {
  /** The address of the edge. */
  readonly origin: string;
  readonly replicas: readonly Replica[];
  /** The secret that signs tokens. */
  readonly secret: string;
  readonly disk: Disk;
  /** @throws {RangeError} if the part has no processes, or the system does not have it */
  part(name: PartName): Part;
  /** Sets the names that cannot be looked up. */
  setFailingNames(names: readonly string[]): void;
  /** Moves the clock of all processes except the servers by `seconds`. */
  setClock(seconds: number): void;
  /** Whether Valkey counts requests of `user`. */
  isCounted(user: string): Promise<boolean>;
  /** The names of the processes that do not run. */
  findEnded(): readonly string[];
  stop(): Promise<void>;
}

/** Starts the services, the edge and their servers; every connection between them has a proxy. */
export async function startFaultySystem(options: FaultySystemOptions): Promise<FaultySystem> {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const disk = createDisk();
    stops.push(disk.remove);
    const toxiproxy = await startToxiproxy();
    stops.push(toxiproxy.stop);
    const servers = await startServers({ ...options, disk, toxiproxy, stops });
    const services = await startServices({ ...options, disk, toxiproxy, stops, servers });
    return { disk, stop, ...services };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Setup extends FaultySystemOptions {
  readonly disk: Disk;
  readonly toxiproxy: Toxiproxy;
  readonly stops: (() => unknown)[];
}

interface Servers {
  readonly parts: Partial<Record<PartName, Part>>;
  readonly stores: { readonly REDIS_URL: string; readonly DATABASE_URL?: string };
  readonly isCounted: FaultySystem['isCounted'];
}

async function startServers({ database, disk, toxiproxy, stops }: Setup): Promise<Servers> {
  const valkey = await startRedisServer();
  stops.push(valkey.stop);
  const valkeyProxy = await toxiproxy.createProxy('valkey', valkey.port);
  const Valkey: Part = {
    hostName: 'valkey.test',
    ...proxied(valkeyProxy),
    kill: () => valkey.signal('SIGKILL'),
    restart: valkey.restart,
    pause: () => valkey.signal('SIGSTOP'),
    resume: () => valkey.signal('SIGCONT'),
  };
  const REDIS_URL = `redis://valkey.test:${valkeyProxy.port}`;
  const isCounted = (user: string) => hasKeyOf(user, valkey.url);
  if (database === 'SQLite') return { parts: { Valkey }, stores: { REDIS_URL }, isCounted };

  const postgres = await startPostgres({ parent: disk.folder });
  stops.push(postgres.stop);
  const proxy = await toxiproxy.createProxy('postgres', Number(new URL(postgres.url).port));
  const PostgreSQL: Part = { hostName: 'postgres.test', ...proxied(proxy), ...postgres };
  const DATABASE_URL = `postgres://postgres@postgres.test:${proxy.port}/postgres`;
  return { parts: { Valkey, PostgreSQL }, stores: { REDIS_URL, DATABASE_URL }, isCounted };
}

async function hasKeyOf(user: string, url: string): Promise<boolean> {
  const client = createClient({ url, socket: { connectTimeout: 500, reconnectStrategy: false } });
  client.on('error', () => {});
  const keys = client.connect().then(() => client.keys(`*:user:${user}`));
  const found = await Promise.race([keys, sleep(500, [])]).catch(() => []);
  client.destroy();
  return found.length > 0;
}

/** All clients look up the name. */
function proxied(...proxies: readonly PartProxy[]): Pick<Part, 'proxies' | 'namedProxies'> {
  return { proxies, namedProxies: proxies };
}

async function startServices(setup: Setup & { readonly servers: Servers }) {
  const { disk, toxiproxy, stops, servers } = setup;
  const folders = foldersOf(disk.folder);
  fs.mkdirSync(folders.data, { recursive: true });
  const secret = readOrCreateSecret(folders.run);
  const { env, setFailingNames, setClock } = createEnvironment(setup);
  const offsets = replicasOf(0).flatMap(({ port, healthPort }) => [port, healthPort]);
  const port = await freePortsFrom([0, ...offsets]);
  const replicas = replicasOf(port);

  const proxies = await Promise.all(
    replicas.map((replica) => toxiproxy.createProxy(replica.name, replica.port)),
  );
  const proxiesOf = (service: ServiceName) =>
    proxies.filter((_, index) => replicas[index]?.service === service);
  const prefix = path.join(folders.run, 'nginx');
  const upstreams = Object.fromEntries(
    SERVICE_NAMES.map((name) => [name, proxiesOf(name).map((proxy) => proxy.port)]),
  ) as Record<ServiceName, number[]>;
  const edge = planEdge({ nginx: ensureTool('nginx'), port, upstreams, prefix });

  // The services call each other through the edge, which itself needs no names.
  const edgeProxies = {
    users: await toxiproxy.createProxy('calls-of-users', port),
    catalog: await toxiproxy.createProxy('calls-of-catalog', port),
  };

  const planService = (replica: Replica): ProcessPlan => {
    const plan = planReplica(replica, { folders, stores: servers.stores, edgePort: port });
    const calls = {
      USERS_URL: `http://users.test:${edgeProxies.users.port}`,
      CATALOG_URL: `http://catalog.test:${edgeProxies.catalog.port}`,
    };
    return { ...plan, env: { ...plan.env, ...env, ...(replica.service === 'reports' && calls) } };
  };
  const startService = async (name: ServiceName) => {
    const plans = replicas.filter(({ service }) => service === name).map(planService);
    const processes = await startProcesses(plans, folders.logs);
    stops.push(processes.stop);
    return { hostName: `${name}.test`, proxies: proxiesOf(name), ...processes };
  };
  const [users, catalog, reports] = await Promise.all([
    startService('users'),
    startService('catalog'),
    startService('reports'),
  ]);
  const edgeProcess = await startProcesses(
    [{ ...edge, env: { ...edge.env, ...env } }],
    folders.logs,
  );
  stops.push(edgeProcess.stop);

  const parts: Partial<Record<PartName, Part>> = {
    ...servers.parts,
    users: { ...users, namedProxies: [edgeProxies.users] },
    catalog: { ...catalog, namedProxies: [edgeProxies.catalog] },
  };
  return {
    origin: `http://127.0.0.1:${port}`,
    replicas,
    secret,
    setFailingNames,
    setClock,
    isCounted: servers.isCounted,
    part(name: PartName): Part {
      const part = parts[name];
      if (!part) throw new RangeError(`Cannot disturb ${name}: this system does not have it`);
      return part;
    },
    findEnded: () =>
      [users, catalog, reports, edgeProcess].flatMap((processes) => processes.findEnded()),
  };
}

/** The environment that lets the services look up `*.test` and, with `hasClock`, get another time. */
function createEnvironment({ disk, hasClock }: Setup) {
  const namesFile = path.join(disk.folder, 'failing-names');
  const clockFile = path.join(disk.folder, 'clock');
  const setFailingNames = (names: readonly string[]) =>
    fs.writeFileSync(namesFile, names.join('\n'));
  const setClock = (seconds: number) =>
    fs.writeFileSync(clockFile, `${seconds < 0 ? '' : '+'}${seconds}`);
  setFailingNames([]);
  setClock(0);
  const preload = path.join(import.meta.dirname, 'failing-names.ts');
  const env = {
    FAILING_NAMES: namesFile,
    NODE_OPTIONS: `--import=${preload}`,
    // A change of the real clock does not affect the monotonic one either.
    ...(hasClock && {
      LD_PRELOAD: ensureTool('faketime'),
      FAKETIME_TIMESTAMP_FILE: clockFile,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }),
  };
  return { env, setFailingNames, setClock };
}
