import { copyFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { buildService } from '@fw/service/build';
import { planEdge } from '../../deploy/local/processes/edge.ts';
import { upstreamsOf } from '../../deploy/local/processes/system.ts';
import { freePort } from '../../deploy/local/testing/ports.ts';
import { startProgram } from '../../deploy/local/testing/program.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { ensureTool } from '../../tools/programs.ts';
import { LOAD_CORE, MEASURED_CORE, pinned } from '../process.ts';
import { type Endpoint, JWT_SECRET } from './endpoints.ts';

export type ServiceName = Endpoint['service'];

const ROOT = resolve(import.meta.dirname, '../..');
const CATALOG_ITEMS = join(ROOT, 'services/catalog/data/items.ndjson');
const USERS = 200;
/** Runs a command without its output: a log line per request in a file would cost time. */
const QUIETLY = ['sh', '-c', 'exec "$@" >/dev/null', 'sh'];

/** Ours, the same endpoints on fastify, or one of users on `node:http` with nothing else than the query. */
export type ServerName = 'fw' | 'fastify' | 'node';

/** A running service. */
export interface Server {
  readonly name: ServerName;
  readonly port: number;
  /** CPU time used since the start. */
  cpuMicros(): Promise<number>;
  /** Ends the process as a deployment does (SIGTERM), so that its database is complete. */
  stop(): Promise<void>;
}

interface ServerOptions {
  readonly name: ServerName;
  readonly service: ServiceName;
  readonly databaseFile: string;
  /** The program of `fw`. */
  readonly bundle: string;
}

/** Starts one server on the measured core and waits until it is ready. */
async function startServer(options: ServerOptions): Promise<Server> {
  const { name, service, databaseFile, bundle } = options;
  const isOurs = name === 'fw';
  const port = await freePort();
  const healthPort = await freePort();
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    HEALTH_PORT: String(healthPort),
    DATABASE_FILE: databaseFile,
    DATA_FILE: CATALOG_ITEMS,
    ...(service === 'reports' && { JWT_SECRET, RATE_LIMIT_PRO: '1000000' }),
    TRUST_PROXY: '1',
    DRAIN_DELAY_MS: '0',
    DRAIN_IDLE_MS: '500',
  };
  const program = isOurs ? [bundle] : [join(import.meta.dirname, `${name}.ts`), service];
  const command = [process.execPath, ...program];
  const managementUrl = `http://127.0.0.1:${isOurs ? healthPort : port}`;
  const { stop } = await startProgram([...QUIETLY, ...pinned(command, MEASURED_CORE)], {
    env,
    ready: `${managementUrl}/${isOurs ? 'readyz' : 'metrics'}`,
  });
  return {
    name,
    port,
    cpuMicros: () => readCpuMicros(`${managementUrl}/metrics`),
    stop: () => stop(),
  };
}

/**
 * Starts a service and its peers with equal databases: our service fills one (the catalog imports its
 * data at start), then it is copied.
 */
export async function startServers(service: ServiceName, directory: string) {
  const bundle = join(directory, 'main.js');
  await buildService({ root: ROOT, entry: `services/${service}/src/main.ts`, outfile: bundle });
  const names: readonly ServerName[] =
    service === 'users' ? ['fw', 'fastify', 'node'] : ['fw', 'fastify'];
  const fileOf = (name: string) => join(directory, `${name}.db`);
  const start = (name: ServerName) =>
    startServer({ name, service, databaseFile: fileOf(name), bundle });
  const userIds: string[] = [];
  if (service !== 'reports') {
    const server = await start('fw');
    for (let index = 0; service === 'users' && index < USERS; index++) {
      userIds.push(await createUser(server.port, index));
    }
    await server.stop();
    for (const name of names.slice(1)) copyFileSync(fileOf('fw'), fileOf(name));
  }
  const servers: Server[] = [];
  for (const name of names) servers.push(await start(name));
  return { servers, userIds };
}

async function createUser(port: number, index: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: `User ${index}`, email: `user.${index}@example.org` }),
  });
  return ((await response.json()) as { data: { id: string } }).data.id;
}

/** Starts the nginx of the local deployment in front of `port`. */
export async function startEdge(port: number, prefix: string) {
  const edgePort = await freePort();
  const { command, args } = planEdge({
    nginx: ensureTool('nginx'),
    port: edgePort,
    upstreams: upstreamsOf(SERVICE_NAMES.map((service) => ({ service, port }))),
    prefix,
  });
  const { stop } = await startProgram(pinned([command, ...args], LOAD_CORE), {
    ready: `http://127.0.0.1:${edgePort}/`,
    isGroup: true,
  });
  return { port: edgePort, stop: () => stop('SIGKILL') };
}

async function readCpuMicros(url: string): Promise<number> {
  const text = await (await fetch(url)).text();
  const [, seconds] = /^process_cpu_seconds_total (\S+)/m.exec(text) ?? [];
  if (seconds === undefined) throw new Error(`Cannot find process_cpu_seconds_total in ${url}`);
  return Number(seconds) * 1e6;
}
