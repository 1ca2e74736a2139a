import path from 'node:path';

import type { Values } from '../../deploy/local/cluster/values.ts';
import type { World } from './scenario.ts';

const CHARTS = path.resolve(import.meta.dirname, '../../deploy/charts');

/** How long helm waits for the pods. */
const WAIT = ['--wait', '--timeout', '180s'];

/** An installed chart. */
export interface Release {
  readonly name: string;
  install(values: Values): Promise<void>;
  upgrade(values: Values): Promise<void>;
  /** The number of the current revision; the first is 1. */
  revision(): Promise<number>;
  /** Returns to an earlier revision. */
  rollback(revision: number): Promise<void>;
  /** Runs the tests of the chart. */
  test(): Promise<void>;
  uninstall(): Promise<void>;
}

/** A release of `chart` in the namespace of the scenario; `install` creates it. */
export function createRelease(
  { cluster, namespace }: Pick<World, 'cluster' | 'namespace'>,
  chart: string,
  name = chart,
): Release {
  const where = ['--namespace', namespace];
  const helm = async (...args: readonly string[]) => void (await cluster.helm([...args, ...where]));
  const put = async (command: 'install' | 'upgrade', values: Values) => {
    const input = JSON.stringify(values);
    // Helm 4 cannot read the status of a Rollout of Argo Rollouts: it would wait until the time-out.
    const wait = input.includes('progressiveDelivery') ? ['--wait=legacy', ...WAIT.slice(1)] : WAIT;
    const args = [command, name, path.join(CHARTS, chart), ...where, ...wait, '--values', '-'];
    await cluster.helm(args, input);
  };
  return {
    name,
    install: (values) => put('install', values),
    upgrade: (values) => put('upgrade', values),
    async revision() {
      const status = await cluster.helm(['status', name, ...where, '--output', 'json']);
      return JSON.parse(status).version;
    },
    rollback: (revision) => helm('rollback', name, String(revision), ...WAIT),
    test: () => helm('test', name, '--timeout', '180s', '--logs'),
    uninstall: () => helm('uninstall', name, ...WAIT),
  };
}
