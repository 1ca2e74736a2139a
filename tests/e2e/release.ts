import path from 'node:path';
import type { Cluster } from '../../deploy/local/cluster/cluster.ts';
import type { Values } from '../../deploy/local/cluster/values.ts';
import type { Space } from './space.ts';

/** A chart in a namespace, under a name. */
export interface Release {
  readonly name: string;
  readonly namespace: string;
  install(values: Values): Promise<void>;
  upgrade(values: Values): Promise<void>;
  /** The number of its present revision; the first is 1. */
  revision(): Promise<number>;
  /** Goes back to an earlier revision. */
  rollback(revision: number): Promise<void>;
  test(): Promise<void>;
  uninstall(): Promise<void>;
}

export interface ReleaseOptions {
  readonly cluster: Cluster;
  readonly space: Space;
  /** The folder of all charts, packed. */
  readonly charts: string;
  readonly chart: string;
  readonly name?: string;
  /** How long each step may take until all pods are ready. Default 180. */
  readonly seconds?: number;
}

/** Gives a release that helm installs, changes and removes. */
export function createRelease(options: ReleaseOptions): Release {
  const { cluster, space, charts, chart, name = chart, seconds = 180 } = options;
  const where = ['--namespace', space.name];
  const wait = ['--wait', '--timeout', `${seconds}s`];
  const helm = async (...args: readonly string[]) => void (await cluster.helm([...args, ...where]));
  const put = async (verb: 'install' | 'upgrade', values: Values) => {
    const args = [verb, name, path.join(charts, chart), ...where, ...wait, '--values', '-'];
    await cluster.helm(args, JSON.stringify(values));
  };
  return {
    name,
    namespace: space.name,
    install: (values) => put('install', values),
    upgrade: (values) => put('upgrade', values),
    async revision() {
      const status = await cluster.helm(['status', name, ...where, '--output', 'json']);
      return JSON.parse(status).version;
    },
    rollback: (revision) => helm('rollback', name, String(revision), ...wait),
    test: () => helm('test', name, '--timeout', `${seconds}s`, '--logs'),
    uninstall: () => helm('uninstall', name, ...wait),
  };
}
