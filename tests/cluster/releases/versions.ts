import fs from 'node:fs';
import path from 'node:path';
import type { ServiceName } from '../../../services/services.ts';
import type { Values } from '../values.ts';
import type { World } from '../world.ts';

const PROGRAMS = path.join(import.meta.dirname, 'planted');
/** The permission model of Node allows the services to read this folder. */
const FOLDER = '/run/secrets/planted';

/** A version to release: the same image with other values. */
export interface Version {
  readonly name: string;
  readonly service: ServiceName;
  /** Values of the service. */
  readonly values: Values;
}

/** The header in all responses of a planted version. */
export const MARK = 'X-Planted';

/** Values with which Node loads programs of the folder `planted` before the service. */
function planted(program: string, values: Values = {}): Values {
  const value = ['mark', program].map((name) => `--import=${FOLDER}/${name}.ts`).join(' ');
  return { extraEnv: [{ name: 'NODE_OPTIONS', value }], ...values };
}

/** Versions that must not be promoted. */
export const BAD_VERSIONS: readonly Version[] = [
  { name: 'v1 field missing', service: 'catalog', values: planted('missing-field') },
  { name: 'crash after 20 s', service: 'users', values: planted('crash') },
  { name: 'limiter off', service: 'reports', values: planted('no-limit') },
  { name: '5xx', service: 'users', values: planted('errors') },
  { name: 'slow', service: 'catalog', values: planted('slow') },
  { name: 'memory leak', service: 'reports', values: planted('leak') },
  { name: 'wrong response body', service: 'users', values: planted('wrong-body') },
  { name: 'broken migration', service: 'catalog', values: planted('failing-migration') },
  { name: 'failing readiness', service: 'reports', values: planted('unready') },
  {
    name: 'exhausted pool',
    service: 'users',
    values: planted('slow', { config: { DATABASE_POOL_SIZE: 1 } }),
  },
];

/** Versions that pass their trial, and fail only when users get them. */
export const LATE_VERSIONS: readonly Version[] = [
  { name: '5xx after a minute', service: 'users', values: planted('late-errors') },
  { name: '5xx behind a proxy', service: 'users', values: planted('proxy-errors') },
];

/** Versions that must be promoted. */
export const HARMLESS_VERSIONS: readonly Version[] = [
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

/** Stores the planted programs in the cluster; returns values that mount them in the pods of a service. */
export async function plantPrograms({ cluster, namespace }: World): Promise<Values> {
  const data = Object.fromEntries(
    fs.readdirSync(PROGRAMS).map((file) => {
      return [file, fs.readFileSync(path.join(PROGRAMS, file), 'utf8')];
    }),
  );
  const metadata = { name: 'planted', namespace };
  await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
  return {
    extraVolumes: [{ name: 'planted', configMap: { name: 'planted' } }],
    extraVolumeMounts: [{ name: 'planted', mountPath: FOLDER }],
  };
}
