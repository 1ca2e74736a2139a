import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { buildService } from '@fw/service/build';
import { type PostgresServer, startPostgres } from '@fw/service/testing/postgres';

import { freePort } from '../../../deploy/local/testing/ports.ts';
import { startTrialEdge } from '../../../deploy/local/testing/trial-edge.ts';
import { type Processes, startProcesses } from '../processes.ts';
import { type PartProxy, startToxiproxy } from '../toxiproxy.ts';

export const STORES = ['SQLite', 'PostgreSQL'] as const;
export type Store = (typeof STORES)[number];

/** Bugs that the checker must find: of users, and of a server that acknowledges before it writes to disk. */
export const BUGS = ['lost update', 'early acknowledgement'] as const;
export type Bug = (typeof BUGS)[number];

export interface SystemOptions {
  readonly store: Store;
  /** Default: none. */
  readonly bug?: Bug | undefined;
}

/** Two replicas of users behind the edge. */
export interface System {
  readonly origin: string;
  /** A replica has the same port after each start. While it is paused, it receives requests, and processes them later. */
  readonly replicas: readonly Processes[];
  /** Only if the store is PostgreSQL. */
  readonly database?: {
    readonly server: PostgresServer;
    /** Between the first replica and the server. */
    readonly proxy: PartProxy;
  };
  /** Stops everything and removes the data. */
  stop(): Promise<void>;
}

/** Starts the system with an empty store. */
export async function startSystem({ store, bug }: SystemOptions): Promise<System> {
  await using parts = new AsyncDisposableStack();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-consistency-'));
  parts.defer(() => fs.rmSync(folder, { recursive: true }));
  const database = store === 'PostgreSQL' ? await startDatabase(parts, bug) : undefined;
  const variables = database?.variables ?? [
    { DATABASE_FILE: path.join(folder, 'users.db') },
    { DATABASE_FILE: path.join(folder, 'users.db') },
  ];

  const bundle = path.join(folder, 'users.js');
  const hasBug = bug === 'lost update';
  const entry = hasBug ? './service.ts' : '../../../services/users/src/main.ts';
  await buildService({ entry: fileURLToPath(new URL(entry, import.meta.url)), outfile: bundle });
  const replicas: Processes[] = [];
  const ports: number[] = [];
  for (const [index, own] of variables.entries()) {
    const plan = await planReplica(`users-${index + 1}`, bundle);
    const env = { ...plan.env, ...own };
    const replica = await startProcesses([{ ...plan, env }], folder);
    parts.defer(() => replica.kill());
    replicas.push(replica);
    ports.push(plan.ports[0]);
  }
  const { origin, stop } = await startTrialEdge({ users: ports });
  parts.defer(stop);
  const all = parts.move();
  return { origin, replicas, ...(database && { database }), stop: () => all.disposeAsync() };
}

async function planReplica(name: string, bundle: string) {
  const [port, healthPort] = [await freePort(), await freePort()];
  return {
    name,
    command: process.execPath,
    args: [bundle],
    env: {
      PATH: process.env.PATH ?? '',
      PORT: String(port),
      HEALTH_PORT: String(healthPort),
      TRUST_PROXY: '1',
      LOG_LEVEL: 'error',
    },
    cwd: path.dirname(bundle),
    ports: [port, healthPort] as const,
    address: `http://127.0.0.1:${port}`,
    readyUrl: `http://127.0.0.1:${healthPort}/readyz`,
    fingerprint: '',
  };
}

/** The latest possible write to disk. */
const EARLY_ACKNOWLEDGEMENT = {
  synchronous_commit: 'off',
  wal_writer_delay: '10s',
  wal_writer_flush_after: '1GB',
};

async function startDatabase(parts: AsyncDisposableStack, bug: Bug | undefined) {
  const settings = bug === 'early acknowledgement' ? EARLY_ACKNOWLEDGEMENT : {};
  const server = await startPostgres({ settings });
  parts.defer(() => server.stop());
  const toxiproxy = await startToxiproxy();
  parts.defer(() => toxiproxy.stop());
  const { port } = new URL(server.url);
  const proxy = await toxiproxy.createProxy('postgres', Number(port));
  const urls = [server.url.replace(`:${port}`, `:${proxy.port}`), server.url];
  const variables = urls.map((url) => ({
    DATABASE_URL: url,
    DATABASE_STATEMENT_TIMEOUT_MS: '1000',
  }));
  return { server, proxy, variables };
}
