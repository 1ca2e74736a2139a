import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { SERVICES, type ServiceName, serviceOf } from '../../../services/services.ts';
import { bundleOf } from '../build.ts';
import type { Folders } from '../state.ts';
import { secretFile } from '../token.ts';
import type { Upstreams } from './edge.ts';
import type { ProcessPlan } from './process.ts';
import type { Stores } from './stores.ts';

/** A process of a service: where clients and where probes reach it. */
export interface Replica {
  readonly name: string;
  readonly service: ServiceName;
  readonly port: number;
  readonly healthPort: number;
}

/** Every replica behind the edge on `edgePort`: the ports that follow it, health 1,000 above. */
export function replicasOf(edgePort: number): Replica[] {
  const names = SERVICES.flatMap(({ name, replicas }) =>
    Array.from({ length: replicas }, (_, index) => ({ service: name, number: index + 1 })),
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
  const ports = SERVICES.map(({ name }) => [
    name,
    replicas.filter(({ service }) => service === name).map(({ port }) => port),
  ]);
  return Object.fromEntries(ports);
}

export interface ReplicaOptions {
  readonly folders: Folders;
  readonly stores: Stores;
  /** Where reports reaches the other two: by the edge, which passes over a replica that is away. */
  readonly edgePort: number;
}

/** What a service reads from its environment on this machine, beside its ports. */
export function environmentOf(
  service: ServiceName,
  { folders, stores, edgePort }: ReplicaOptions,
): Record<string, string> {
  return {
    ...passedOn(service),
    PATH: process.env.PATH ?? '',
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    // The edge is turned away before a replica is told to end, so there is nobody to wait for.
    DRAIN_DELAY_MS: '0',
    TRUST_PROXY: '1',
    ...settingsOf(service, { folders, stores, edgePort }),
  };
}

/** How to run `replica` from its service's bundle. */
export function planReplica(replica: Replica, options: ReplicaOptions): ProcessPlan {
  const bundle = bundleOf(replica.service);
  const env = {
    ...environmentOf(replica.service, options),
    PORT: String(replica.port),
    HEALTH_PORT: String(replica.healthPort),
  };
  return {
    name: replica.name,
    command: process.execPath,
    args: [bundle],
    env,
    cwd: options.folders.root,
    ports: [replica.port, replica.healthPort],
    address: `http://127.0.0.1:${replica.port}`,
    readyUrl: `http://127.0.0.1:${replica.healthPort}/readyz`,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([process.execPath, env]))
      .update(fs.readFileSync(bundle))
      .digest('hex'),
  };
}

/** The variables of the services that the environment of `make up` sets. */
export function passedOn(
  service: ServiceName,
  env: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  return Object.fromEntries(
    serviceOf(service).environment.flatMap((name) => {
      const value = env[name];
      return value ? [[name, value]] : [];
    }),
  );
}

function settingsOf(
  service: ServiceName,
  { folders, stores: { DATABASE_URL, REDIS_URL }, edgePort }: ReplicaOptions,
): Record<string, string> {
  const { store, authenticated, calls } = serviceOf(service);
  const edge = `http://127.0.0.1:${edgePort}`;
  return {
    ...(store === 'database' && {
      DATABASE_FILE: path.join(folders.data, `${service}.db`),
      ...(DATABASE_URL && { DATABASE_URL }),
    }),
    ...(store === 'counters' && REDIS_URL && { REDIS_URL }),
    ...(authenticated && { JWT_SECRET_FILE: secretFile(folders.run) }),
    ...Object.fromEntries(calls.map((name) => [`${name.toUpperCase()}_URL`, edge])),
  };
}
