import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { SERVICES, type ServiceName, serviceOf } from '../../../services/services.ts';
import { bundleOf } from '../build.ts';
import { addressVariable, needsTokens, passedOn } from '../service-variables.ts';
import type { Folders } from '../state.ts';
import { secretFile } from '../token.ts';
import type { Upstreams } from './edge.ts';
import type { ProcessPlan } from './process.ts';

/** A process of a service. */
export interface Replica {
  readonly name: string;
  readonly service: ServiceName;
  /** The port of the API. */
  readonly port: number;
  readonly healthPort: number;
}

/** The replicas of all services; their ports follow `edgePort`, health ports are 1,000 higher. */
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

/** The ports of the replicas by service. */
export function upstreamsOf(replicas: readonly Pick<Replica, 'service' | 'port'>[]): Upstreams {
  const byService = Object.groupBy(replicas, ({ service }) => service);
  return Object.fromEntries(
    SERVICES.map(({ name }) => [name, (byService[name] ?? []).map(({ port }) => port)]),
  ) as unknown as Upstreams;
}

export interface ReplicaOptions {
  readonly folders: Folders;
  /** The variables of `make up`, of which a service gets those that it declares. */
  readonly env: NodeJS.ProcessEnv;
  /** Services call each other through the edge, which skips unavailable replicas. */
  readonly edgePort: number;
  /** The receiver of spans. Default: `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly collectorUrl?: string | undefined;
}

/** The environment of a service on this machine, except its ports. */
export function environmentOf(
  service: ServiceName,
  { folders, env, edgePort, collectorUrl }: ReplicaOptions,
): Record<string, string> {
  const { store, calls } = serviceOf(service);
  const edge = `http://127.0.0.1:${edgePort}`;
  const hasKeys = env.JWT_SECRET || env.JWT_JWKS_URL;
  return {
    // The default of make up, without time for load balancers: "make down" stops the edge first. Requests in
    // flight are still finished.
    DRAIN_DELAY_MS: '0',
    DRAIN_IDLE_MS: '500',
    ...(needsTokens(service, env) && !hasKeys && { JWT_SECRET_FILE: secretFile(folders.run) }),
    ...passedOn(service, env),
    ...(collectorUrl && { OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl }),
    PATH: process.env.PATH ?? '',
    ...(env.NODE_OPTIONS && { NODE_OPTIONS: env.NODE_OPTIONS }),
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    TRUST_PROXY: '1',
    ...(store === 'database' && { DATABASE_FILE: path.join(folders.data, `${service}.db`) }),
    ...Object.fromEntries(calls.map((name) => [addressVariable(name), edge])),
  };
}

/** How to run `replica` from the bundle of its service. */
export function planReplica(replica: Replica, options: ReplicaOptions): ProcessPlan {
  const { name, service, port, healthPort } = replica;
  const bundle = bundleOf(service);
  const ports = { PORT: String(port), HEALTH_PORT: String(healthPort) };
  const env = { ...environmentOf(service, options), ...ports };
  return {
    name,
    command: process.execPath,
    args: [bundle],
    env,
    cwd: options.folders.root,
    ports: [port, healthPort],
    address: `http://127.0.0.1:${port}`,
    readyUrl: `http://127.0.0.1:${healthPort}/readyz`,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([process.execPath, env]))
      .update(fs.readFileSync(bundle))
      .digest('hex'),
  };
}
