import fs from 'node:fs';
import path from 'node:path';
import type { ServiceName } from '../../../services/services.ts';
import type { Values } from '../values.ts';
import type { World } from '../world.ts';
import type { Bug } from './planted.ts';

const PROGRAM = 'planted.ts';
/** The permission model of Node allows the services to read this folder. */
const FOLDER = '/run/secrets/planted';

/** A version to release: the same image with other values. */
export interface Version {
  readonly name: string;
  readonly service: ServiceName;
  /** Values of the service. */
  readonly values: Values;
}

/** The header in all responses of a version with a bug. */
export const MARK = 'X-Planted';

/** A version whose service Node starts with a bug. */
function planted(name: Bug, service: ServiceName): Version {
  const variables = { NODE_OPTIONS: `--import=${FOLDER}/${PROGRAM}`, PLANTED: name };
  const extraEnv = Object.entries(variables).map(([name, value]) => ({ name, value }));
  return { name, service, values: { extraEnv } };
}

const slow = planted('slow', 'users');

/** Versions that must not be promoted. */
export const BAD_VERSIONS: readonly Version[] = [
  planted('v1 field missing', 'catalog'),
  planted('crash after 20 s', 'users'),
  planted('limiter off', 'reports'),
  planted('5xx', 'users'),
  planted('slow', 'catalog'),
  planted('memory leak', 'reports'),
  planted('wrong response body', 'users'),
  planted('broken migration', 'catalog'),
  planted('failing readiness', 'reports'),
  {
    ...slow,
    name: 'exhausted pool',
    values: { ...slow.values, config: { DATABASE_POOL_SIZE: 1 } },
  },
];

/** Versions that pass their trial, and fail only when users get them. */
export const LATE_VERSIONS: readonly Version[] = [
  planted('5xx after a minute', 'users'),
  planted('5xx behind a proxy', 'users'),
];

/**
 * Versions that must be promoted. The first one differs from the bad ones only in its bug: it shows that these are not
 * rolled back for another reason.
 */
export const HARMLESS_VERSIONS: readonly Version[] = [
  { ...planted('none', 'users'), name: 'a module in NODE_OPTIONS' },
  { name: 'another log level', service: 'users', values: { config: { LOG_LEVEL: 'error' } } },
  { name: 'an annotation', service: 'catalog', values: { podAnnotations: { team: 'shop' } } },
  { name: 'a label', service: 'reports', values: { podLabels: { team: 'shop' } } },
  { name: 'a larger pool', service: 'users', values: { config: { DATABASE_POOL_SIZE: 12 } } },
  {
    name: 'more memory',
    service: 'catalog',
    values: { resources: { limits: { memory: '320Mi' } } },
  },
  {
    name: 'a variable',
    service: 'reports',
    values: { extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '' }] },
  },
  { name: 'a longer preStop', service: 'users', values: { preStopSleepSeconds: 6 } },
  {
    name: 'a smaller CPU request',
    service: 'catalog',
    values: { resources: { requests: { cpu: '50m' } } },
  },
  { name: 'a higher limit', service: 'reports', values: { config: { RATE_LIMIT_FREE: 120 } } },
  {
    name: 'a slower liveness probe',
    service: 'users',
    values: { livenessProbe: { periodSeconds: 20 } },
  },
];

/** Stores the program with the bugs in the cluster; returns values that mount it in the pods of a service. */
export async function plantProgram({ cluster, namespace }: World): Promise<Values> {
  const text = fs.readFileSync(path.join(import.meta.dirname, PROGRAM), 'utf8');
  const metadata = { name: 'planted', namespace };
  await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [PROGRAM]: text } });
  return {
    extraVolumes: [{ name: 'planted', configMap: { name: 'planted' } }],
    extraVolumeMounts: [{ name: 'planted', mountPath: FOLDER }],
  };
}
