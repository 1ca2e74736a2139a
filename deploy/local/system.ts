import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { bundleOf } from './build.ts';
import type { Upstreams } from './edge.ts';
import type { ProcessPlan } from './process.ts';
import type { Folders } from './state.ts';

export type ServiceName = keyof Upstreams;

/** A process of a service: where clients and where probes reach it. */
export interface Replica {
  readonly name: string;
  readonly service: ServiceName;
  readonly port: number;
  readonly healthPort: number;
}

const REPLICAS: Readonly<Record<ServiceName, number>> = { users: 2, catalog: 2, reports: 1 };

/** The names of the services, in the order of their ports. */
export const SERVICES: readonly ServiceName[] = ['users', 'catalog', 'reports'];

/** Every replica behind the edge on `edgePort`: the ports that follow it, health 1,000 above. */
export function replicasOf(edgePort: number): Replica[] {
  const names = SERVICES.flatMap((service) =>
    Array.from({ length: REPLICAS[service] }, (_, index) => ({ service, number: index + 1 })),
  );
  return names.map(({ service, number }, index) => ({
    name: `${service}-${number}`,
    service,
    port: edgePort + 1 + index,
    healthPort: edgePort + 1_001 + index,
  }));
}

/** The replicas' ports by service, as the edge wants them. */
export function upstreamsOf(replicas: readonly Replica[]): Upstreams {
  const portsOf = (service: ServiceName) =>
    replicas.filter((replica) => replica.service === service).map(({ port }) => port);
  return { users: portsOf('users'), catalog: portsOf('catalog'), reports: portsOf('reports') };
}

export interface ReplicaOptions {
  readonly folders: Folders;
  /** The bearer token that reports takes. */
  readonly token: string;
}

/** How to run `replica` from its service's bundle. */
export function planReplica(replica: Replica, { folders, token }: ReplicaOptions): ProcessPlan {
  const bundle = bundleOf(replica.service);
  const env = {
    PATH: process.env.PATH ?? '',
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(replica.port),
    HEALTH_PORT: String(replica.healthPort),
    // The edge is turned away before a replica is told to end, so there is nobody to wait for.
    DRAIN_DELAY_MS: '0',
    TRUST_PROXY: '1',
    ...settingsOf(replica.service, folders, token),
  };
  return {
    name: replica.name,
    command: process.execPath,
    args: [bundle],
    env,
    cwd: folders.root,
    ports: [replica.port, replica.healthPort],
    address: `http://127.0.0.1:${replica.port}`,
    readyUrl: `http://127.0.0.1:${replica.healthPort}/readyz`,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([process.execPath, env]))
      .update(fs.readFileSync(bundle))
      .digest('hex'),
  };
}

function settingsOf(service: ServiceName, folders: Folders, token: string): Record<string, string> {
  switch (service) {
    case 'users':
      return { DATABASE_FILE: path.join(folders.data, 'users.db') };
    case 'catalog':
      return { DATABASE_FILE: path.join(folders.run, 'catalog.db') };
    case 'reports':
      return { TOKENS: `${token}=local` };
  }
}
