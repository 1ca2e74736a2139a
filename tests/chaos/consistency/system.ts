import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { buildService } from '@fw/service/build';
import { type PostgresServer, startPostgres } from '@fw/service/testing/postgres';

import { freePort } from '../../../deploy/local/testing/ports.ts';
import { startTrialEdge } from '../../../deploy/local/testing/trial-edge.ts';
import { type Link, startLink } from './link.ts';
import type { Bug } from './planted-bugs.ts';
import { type Replica, startReplica } from './replica.ts';

export const STORES = ['SQLite', 'PostgreSQL'] as const;
export type Store = (typeof STORES)[number];

/** Two replicas of users behind the edge. */
export interface System {
  readonly origin: string;
  readonly replicas: readonly Replica[];
  /** Only if the store is PostgreSQL. */
  readonly database?: {
    readonly server: PostgresServer;
    /** Between the first replica and the server. */
    readonly link: Link;
  };
  /** Stops everything and removes the data. */
  stop(): Promise<void>;
}

/** Starts the system with an empty store. */
export async function startSystem(store: Store, bug?: Bug): Promise<System> {
  await using parts = new AsyncDisposableStack();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-consistency-'));
  parts.defer(() => fs.rmSync(folder, { recursive: true }));
  const database = store === 'PostgreSQL' ? await startDatabase(parts) : undefined;
  const variables = database?.variables ?? [
    { DATABASE_FILE: path.join(folder, 'users.db') },
    { DATABASE_FILE: path.join(folder, 'users.db') },
  ];

  const bundle = path.join(folder, 'users.js');
  await buildService({ entry: entryOf(bug), outfile: bundle });
  const replicas: Replica[] = [];
  for (const [index, own] of variables.entries()) {
    const env = { ...own, ...(bug && { BUG: bug }) };
    const replica = await startReplica({ name: `users-${index + 1}`, bundle, env, folder });
    parts.defer(() => replica.kill());
    replicas.push(replica);
  }

  const unused = [await freePort()];
  const users = replicas.map(({ port }) => port);
  const { origin, stop } = await startTrialEdge({ users, catalog: unused, reports: unused });
  parts.defer(stop);
  const all = parts.move();
  return { origin, replicas, ...(database && { database }), stop: () => all.disposeAsync() };
}

async function startDatabase(parts: AsyncDisposableStack) {
  const server = await startPostgres({ settings: {} });
  parts.defer(() => server.stop());
  const { port } = new URL(server.url);
  const link = await startLink(Number(port));
  parts.defer(() => link.close());
  const urls = [server.url.replace(`:${port}`, `:${link.port}`), server.url];
  const variables = urls.map((url) => ({
    DATABASE_URL: url,
    DATABASE_STATEMENT_TIMEOUT_MS: '1000',
  }));
  return { server, link, variables };
}

function entryOf(bug: Bug | undefined): string {
  const file = bug ? './service.ts' : '../../../services/users/src/main.ts';
  return fileURLToPath(new URL(file, import.meta.url));
}
