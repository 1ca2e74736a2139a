import fs from 'node:fs';

import { SERVICE_NAMES } from '../../services/services.ts';

/** What `make release` installs, and how it checks the result. */
export interface ReleaseOptions {
  /** The tag of the images; empty: unchanged. */
  readonly tag: string;
  /** The service to release; empty: all services. */
  readonly service: string;
  /** A values file; empty: none. */
  readonly values: string;
  readonly release: string;
  readonly namespace: string;
  /** The address of the system, which k6 sends requests to. */
  readonly base: string;
  /** The k6 profile whose thresholds decide. */
  readonly profile: string;
  /** How long Helm waits for the pods of an upgrade or a rollback. */
  readonly timeout: string;
}

export const HELP = `Usage: make release TAG=1.2.3 BASE=https://fw.example [SERVICE=users] [VALUES=file.yaml]
  [RELEASE=platform] [NAMESPACE=fw] [PROFILE=load] [TIMEOUT=5m]

Upgrades a Helm release, sends the requests of a k6 profile to BASE, and rolls back if an objective is missed.

  TAG        tag of the images; required if there is no VALUES
  SERVICE    ${SERVICE_NAMES.join(', ')}; default: all
  VALUES     file of values, in addition to those of the installed release
  RELEASE    the Helm release; default: platform
  NAMESPACE  its namespace; default: fw
  PROFILE    the k6 profile whose thresholds decide; default: load
  TIMEOUT    time until pods that do not become ready are rolled back
  BASE       address of the system; also set TOKEN or JWT_SECRET (deploy/k6/README.md)
`;

/**
 * Reads the variables of `make release`.
 *
 * @throws {Error} in one line that names the wrong value
 */
export function readOptions(env: NodeJS.ProcessEnv): ReleaseOptions {
  const { TAG: tag = '', SERVICE: service = '', VALUES: values = '', BASE: base = '' } = env;
  const timeout = env.TIMEOUT || '5m';
  if (!tag && !values) throw new Error('TAG is missing: expected the tag of the images, or VALUES');
  if (service && !tag) {
    throw new Error(
      `SERVICE is "${service}" without TAG: it selects the service that gets the tag`,
    );
  }
  if (tag && !/^\w[\w.-]{0,127}$/.test(tag)) {
    throw new Error(`TAG is "${tag}": expected the tag of an image, such as 1.2.3`);
  }
  if (service && !SERVICE_NAMES.some((name) => name === service)) {
    throw new Error(`SERVICE is "${service}": expected ${SERVICE_NAMES.join(', ')}`);
  }
  if (values && !fs.existsSync(values)) {
    throw new Error(`VALUES is "${values}": expected an existing file`);
  }
  if (!/^[1-9]\d*[smh]$/.test(timeout)) {
    throw new Error(`TIMEOUT is "${timeout}": expected a duration such as 5m`);
  }
  if (!base) throw new Error('BASE is missing: expected the address of the system');
  const release = env.RELEASE || 'platform';
  const namespace = env.NAMESPACE || 'fw';
  const profile = env.PROFILE || 'load';
  return { tag, service, values, base, release, namespace, profile, timeout };
}
