import { createHash } from 'node:crypto';
import path from 'node:path';

import { SERVICE_NAMES } from '../../../services/services.ts';
import type { Launch } from '../processes/launch.ts';
import { stopSystem } from '../processes/launch.ts';
import { type ProcessPlan, startProcess, stopProcess } from '../processes/process.ts';
import { readRunning, writeRecords } from '../state.ts';
import { keepSecret } from '../token.ts';
import { type Cluster, waitFor } from './cluster.ts';
import { prepareKind } from './kind.ts';
import { prepareKubeconfig } from './kubeconfig.ts';
import {
  ensureNamespace,
  hasDefaultStorage,
  installPlatform,
  readTokenSecret,
  waitUntilReady,
} from './platform.ts';
import { clusterValues } from './platform-values.ts';
import {
  addressOf,
  type ClusterRecord,
  clusterOf,
  kubeconfigFile,
  type PrepareOptions,
  readCluster,
  writeCluster,
} from './record.ts';
import { removeFromCluster } from './remove.ts';
import { createTimeLimit } from './time-limit.ts';

export interface ClusterLaunchOptions
  extends Pick<PrepareOptions, 'folders' | 'port' | 'env' | 'log' | 'status'> {
  readonly backend: ClusterRecord['backend'];
}

/** Prepares the start of the system on a cluster. */
export function createClusterLaunch(options: ClusterLaunchOptions): Launch {
  const { folders, port, backend, env, log, status = () => {} } = options;
  const { run } = folders;
  const before = readCluster(run);
  const readySeconds = readSeconds(env.TIMEOUT);
  const interrupted = new AbortController();
  const limit = createTimeLimit(interrupted.signal);
  let starting = Promise.resolve();
  /** What this start has created. */
  let created: { readonly record: ClusterRecord; namespace: boolean } | undefined;

  function begin(record: ClusterRecord): void {
    created = { record, namespace: false };
    writeCluster(run, record);
  }

  async function up(): Promise<void> {
    if (before && before.address !== addressOf(port)) {
      throw new Error(
        `The system runs at ${before.address}: "make down" first, then choose another PORT`,
      );
    }
    // Rejects invalid variables before the first change.
    clusterValues({ env, ephemeral: true });
    const prepare = backend === 'kind' ? prepareKind : prepareKubeconfig;
    const { record, ...target } = await prepare({ ...options, limit, before, begin });

    await limit(180, 'installing the charts', async (signal) => {
      const cluster = clusterOf(run, signal);
      const ephemeral = !(await hasDefaultStorage(cluster));
      if (ephemeral) log('No default StorageClass: the data is deleted with the PostgreSQL pod');
      const isNew = await ensureNamespace(cluster, record.namespace);
      if (created) created.namespace = isNew;
      log(`Installing the charts into the namespace ${record.namespace} of ${record.cluster}`);
      const values = clusterValues({ env, ephemeral, ...target });
      await installPlatform(cluster, { ...record, values, file: env.VALUES || undefined });
      keepSecret(run, await readTokenSecret(cluster, record));
    });
    await limit(readySeconds + 60, 'waiting for the pods', (signal) =>
      waitUntilReady(clusterOf(run, signal), { ...record, seconds: readySeconds, log, status }),
    );
    if (target.nodePort === undefined) await forward(record);
    await limit(readySeconds + 60, 'waiting for responses', (signal) =>
      waitForResponses(record, { cluster: clusterOf(run, signal), seconds: readySeconds }),
    );
  }

  /** Forwards the port of this machine to the edge. */
  async function forward({ namespace, release }: ClusterRecord): Promise<void> {
    const readyUrl = `http://127.0.0.1:${port}/`;
    const place = ['--namespace', namespace, '--address', '127.0.0.1'];
    const kubectl = ['kubectl', 'port-forward', ...place, `service/${release}-edge`, `${port}:80`];
    const plan: ProcessPlan = {
      name: 'edge',
      command: process.execPath,
      args: [path.join(import.meta.dirname, 'forward.ts'), readyUrl, ...kubectl],
      // Plugins that sign in to the cluster may need any variable.
      env: { ...(process.env as Record<string, string>), KUBECONFIG: kubeconfigFile(run) },
      cwd: folders.root,
      ports: [port],
      address: addressOf(port),
      readyUrl,
      fingerprint: createHash('sha256').update(JSON.stringify(kubectl)).digest('hex'),
    };
    const running = readRunning(run).find(({ name }) => name === plan.name);
    if (running?.fingerprint === plan.fingerprint) return;
    if (running) await stopProcess(running);
    const { record } = await startProcess(plan, path.join(folders.logs, 'edge.log'));
    writeRecords(run, [record]);
  }

  async function undo(): Promise<void> {
    interrupted.abort(new Error('Interrupted'));
    await starting.catch(() => {});
    // The installation of an earlier start stays.
    if (before) return;
    if (created) await removeFromCluster({ run, record: created.record, clean: created.namespace });
    await stopSystem(folders);
  }

  return {
    up: () => {
      starting = up();
      return starting;
    },
    undo,
  };
}

/**
 * Waits until the edge and all services respond: after a restart of the node, pods are listed as ready until
 * the kubelet has checked them.
 */
async function waitForResponses(
  { address }: ClusterRecord,
  wait: { readonly cluster: Cluster; readonly seconds: number },
): Promise<void> {
  const paths = ['/', ...SERVICE_NAMES.map((name) => `/docs/${name}`)];
  await waitFor({ ...wait, what: `responses from ${address}` }, async () => {
    const responses = paths.map(async (path) => {
      const response = await fetch(address + path, { signal: AbortSignal.timeout(2_000) });
      await response.arrayBuffer();
      return response.status;
    });
    return (await Promise.all(responses)).every((status) => status < 500) || undefined;
  });
}

/** Time for the pods to become ready. */
function readSeconds(text = ''): number {
  const seconds = Number(text || 300);
  if (Number.isInteger(seconds) && seconds > 0) return seconds;
  throw new Error(`TIMEOUT is "${text}": expected a whole number of seconds`);
}
