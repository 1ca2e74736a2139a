import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startPostgres } from '@fw/service/testing/postgres';
import { createClient } from 'redis';

import { planEdge } from '../../../deploy/local/processes/edge.ts';
import type { ProcessPlan } from '../../../deploy/local/processes/process.ts';
import type { Stores } from '../../../deploy/local/processes/stores.ts';
import { planReplica, type Replica, replicasOf } from '../../../deploy/local/processes/system.ts';
import { foldersOf } from '../../../deploy/local/state.ts';
import { freePortsFrom } from '../../../deploy/local/testing/ports.ts';
import { readOrCreateSecret } from '../../../deploy/local/token.ts';
import { startRedisServer } from '../../../framework/rate-limit/src/testing/redis-server.ts';
import { SERVICE_NAMES, type ServiceName } from '../../../services/services.ts';
import { ensureTool } from '../../../tools/programs.ts';
import { type Processes, startProcesses } from '../processes.ts';
import { type PartProxy, startToxiproxy, type Toxiproxy } from '../toxiproxy.ts';
import { createDisk, type Disk } from './disk.ts';

/** The parts of the system that can fail. */
export type PartName = 'PostgreSQL' | 'SQLite' | 'Valkey' | ServiceName | 'clock';

/** The processes of a part, and the connections to them. */
export interface Part extends Omit<Processes, 'findEnded' | 'stop'> {
  /** The name that its clients look up. */
  readonly hostName: string;
  /** Its clients connect through these. */
  readonly proxies: readonly PartProxy[];
  /** The connections of the clients that look up its name. */
  readonly namedProxies: readonly PartProxy[];
}

type Parts = Partial<Record<PartName, Part>>;

export interface FaultySystemOptions {
  /** Where users and catalog keep their data. */
  readonly database: 'PostgreSQL' | 'SQLite';
  /** Whether `setClock` works, which needs libfaketime. Default false. */
  readonly hasClock?: boolean;
}

/** The whole system; every connection between its processes has a proxy. */
export interface FaultySystem {
  /** The address of the edge. */
  readonly origin: string;
  readonly replicas: readonly Replica[];
  /** The secret that signs tokens. */
  readonly secret: string;
  /** Contains the data of the databases, and all logs. */
  readonly disk: Disk;
  /** @throws {RangeError} if the part has no processes, or the system does not have it */
  part(name: PartName): Part;
  /** Sets the names that the services cannot look up. */
  setFailingNames(names: readonly string[]): void;
  /** Moves the clock of the services and of the edge by `seconds`, with `hasClock`. */
  setClock(seconds: number): void;
  /** Whether Valkey counts requests of `user`. */
  isCounted(user: string): Promise<boolean>;
  /** The names of the processes that do not run. */
  findEnded(): readonly string[];
  stop(): Promise<void>;
}

/** What the start of each part of the system uses. */
interface Setup extends FaultySystemOptions {
  readonly disk: Disk;
  readonly toxiproxy: Toxiproxy;
  /** What was started. */
  readonly started: AsyncDisposableStack;
}

/** Starts the services, the edge and their servers. */
export async function startFaultySystem(options: FaultySystemOptions): Promise<FaultySystem> {
  await using started = new AsyncDisposableStack();
  const disk = createDisk();
  started.defer(disk.remove);
  const toxiproxy = await startToxiproxy();
  started.defer(toxiproxy.stop);
  const setup = { ...options, disk, toxiproxy, started };
  const { isCounted, stores, parts: servers } = await startServers(setup);
  const { parts: services, ...system } = await startServices(setup, stores);
  const parts: Parts = { ...servers, ...services };
  const all = started.move();
  return {
    ...system,
    disk,
    isCounted,
    part(name) {
      const found = parts[name];
      if (!found) throw new RangeError(`Cannot disturb "${name}": expected a part of this system`);
      return found;
    },
    stop: () => all.disposeAsync(),
  };
}

/** Starts Valkey and, unless the database is SQLite, PostgreSQL. */
async function startServers({ database, disk, toxiproxy, started }: Setup) {
  const valkey = await startRedisServer();
  started.defer(valkey.stop);
  const valkeyProxy = await toxiproxy.createProxy('valkey', valkey.port);
  const parts: Parts = {
    Valkey: {
      hostName: 'valkey.test',
      proxies: [valkeyProxy],
      namedProxies: [valkeyProxy],
      kill: () => valkey.signal('SIGKILL'),
      restart: valkey.restart,
      pause: () => valkey.signal('SIGSTOP'),
      resume: () => valkey.signal('SIGCONT'),
    },
  };
  const stores: Stores = { REDIS_URL: `redis://valkey.test:${valkeyProxy.port}` };
  const isCounted = (user: string) => hasKeyOf(user, valkey.url);
  if (database === 'SQLite') return { parts, stores, isCounted };

  const postgres = await startPostgres({ parent: disk.folder });
  started.defer(postgres.stop);
  const proxy = await toxiproxy.createProxy('postgres', Number(new URL(postgres.url).port));
  const own = { proxies: [proxy], namedProxies: [proxy] };
  const DATABASE_URL = `postgres://postgres@postgres.test:${proxy.port}/postgres`;
  return {
    parts: { ...parts, PostgreSQL: { hostName: 'postgres.test', ...postgres, ...own } },
    stores: { ...stores, DATABASE_URL },
    isCounted,
  };
}

async function hasKeyOf(user: string, url: string): Promise<boolean> {
  const client = createClient({ url, socket: { connectTimeout: 500, reconnectStrategy: false } });
  client.on('error', () => {});
  const keys = client.connect().then(() => client.keys(`*:user:${user}`));
  const found = await Promise.race([keys, sleep(500, [])]).catch(() => []);
  client.destroy();
  return found.length > 0;
}

/** Starts the services, and the edge, which connects to them through proxies. */
async function startServices({ disk, toxiproxy, started, hasClock }: Setup, stores: Stores) {
  const folders = foldersOf(disk.folder);
  fs.mkdirSync(folders.data, { recursive: true });
  const secret = readOrCreateSecret(folders.run);
  const { env, ...environment } = createEnvironment(disk.folder, hasClock);
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
  const calls = {
    USERS_URL: `http://users.test:${callsOfUsers.port}`,
    CATALOG_URL: `http://catalog.test:${callsOfCatalog.port}`,
  };

  const start = async (plans: readonly ProcessPlan[], more: object = {}) => {
    const own = plans.map((plan) => ({ ...plan, env: { ...plan.env, ...env, ...more } }));
    const processes = await startProcesses(own, folders.logs);
    started.defer(processes.stop);
    return processes;
  };
  const startService = (name: ServiceName) => {
    const plans = replicas
      .filter(({ service }) => service === name)
      .map((replica) => planReplica(replica, { folders, env: stores, edgePort: port }));
    return start(plans, calls);
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

  const partOf = (name: ServiceName, ...namedProxies: PartProxy[]) => ({
    hostName: `${name}.test`,
    proxies: proxiesOf(name),
    namedProxies,
  });
  return {
    ...environment,
    origin: `http://127.0.0.1:${port}`,
    replicas,
    secret,
    parts: {
      users: { ...users, ...partOf('users', callsOfUsers) },
      catalog: { ...catalog, ...partOf('catalog', callsOfCatalog) },
      reports: { ...reports, ...partOf('reports') },
    },
    findEnded: () => [users, catalog, reports, edge].flatMap((one) => one.findEnded()),
  };
}

/**
 * Creates the environment in which the names `*.test` are this machine. With `hasClock`, the clock can be
 * moved; its state is in `folder`.
 */
function createEnvironment(folder: string, hasClock = false) {
  const namesFile = path.join(folder, 'failing-names');
  const clockFile = path.join(folder, 'clock');
  const setFailingNames = (names: readonly string[]) =>
    fs.writeFileSync(namesFile, names.join('\n'));
  const setClock = (seconds: number) =>
    fs.writeFileSync(clockFile, `${seconds < 0 ? '' : '+'}${seconds}`);
  setFailingNames([]);
  setClock(0);
  // As an address: NODE_OPTIONS are separated by spaces.
  const preload = new URL('failing-names.ts', import.meta.url);
  const env = {
    FAILING_NAMES: namesFile,
    NODE_OPTIONS: `--import=${preload.href}`,
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
