import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Launch } from '../processes/launch.ts';
import { type ProcessPlan, startProcess, stopProcess } from '../processes/process.ts';
import { stopSystem } from '../processes/stop.ts';
import { readRunning, writeRecords } from '../state.ts';
import { keepSecret } from '../token.ts';
import { waitFor } from './cluster.ts';
import { bringKind } from './kind-cluster.ts';
import { takeKubeconfig } from './kubeconfig.ts';
import {
  ensureNamespace,
  makesVolumes,
  putPlatform,
  readTokenSecret,
  waitUntilReady,
} from './platform.ts';
import { clusterValues } from './platform-values.ts';
import {
  type ClusterRecord,
  clusterOf,
  kubeconfigFile,
  readCluster,
  writeCluster,
} from './record.ts';
import { removeFromCluster } from './remove.ts';
import { addressOf, type GroundOptions } from './target-cluster.ts';
import { limitedBy } from './within.ts';

export interface ClusterLaunchOptions
  extends Pick<GroundOptions, 'folders' | 'port' | 'env' | 'say'> {
  readonly backend: ClusterRecord['backend'];
}

/** Prepares the start of the system on a cluster. */
export function createClusterLaunch(options: ClusterLaunchOptions): Launch {
  const { folders, port, backend, env, say } = options;
  const { run } = folders;
  const before = readCluster(run);
  const readySeconds = readSeconds(env.TIMEOUT);
  const interrupted = new AbortController();
  const within = limitedBy(interrupted.signal);
  /** What this start makes, once it has begun. */
  let made: { readonly record: ClusterRecord; namespace: boolean } | undefined;

  function begin(record: ClusterRecord): void {
    made = { record, namespace: false };
    writeCluster(run, record);
  }

  async function up(): Promise<void> {
    if (before && before.address !== addressOf(port)) {
      throw new Error(
        `The system runs at ${before.address}: "make down" first, to have it elsewhere`,
      );
    }
    // A mistyped variable is told before anything is made.
    clusterValues({ env, ephemeral: true });
    const bring = backend === 'kind' ? bringKind : takeKubeconfig;
    const { record, ...ground } = await bring({ ...options, within, before, begin });

    await within(180, 'installing the charts', async (signal) => {
      const cluster = clusterOf(run, signal);
      const ephemeral = !(await makesVolumes(cluster));
      if (ephemeral) say('The cluster makes no volumes: the data go with the pod of PostgreSQL');
      const isNew = await ensureNamespace(cluster, record.namespace);
      if (made) made.namespace = isNew;
      say(`Installing the charts into the namespace ${record.namespace} of ${record.cluster}`);
      const values = clusterValues({ env, ephemeral, ...ground });
      await putPlatform(cluster, { ...record, values, file: env.VALUES || undefined });
      keepSecret(run, await readTokenSecret(cluster, record));
    });
    await within(readySeconds + 60, 'waiting for the pods', (signal) =>
      waitUntilReady(clusterOf(run, signal), { ...record, seconds: readySeconds, say }),
    );
    if (ground.nodePort === undefined) await forward(record);
    await within(60, 'asking the edge', (signal) => untilAnswered(record, signal));
  }

  /** Has the port of this machine lead to the edge, as it does where nodes have such a port. */
  async function forward({ namespace, release }: ClusterRecord): Promise<void> {
    const target = [`service/${release}-edge`, `${port}:80`];
    const readyUrl = `http://127.0.0.1:${port}/`;
    const plan: ProcessPlan = {
      name: 'edge',
      command: process.execPath,
      args: [
        path.join(import.meta.dirname, 'forward.ts'),
        readyUrl,
        ...[
          'kubectl',
          'port-forward',
          '--namespace',
          namespace,
          '--address',
          '127.0.0.1',
          ...target,
        ],
      ],
      // Whatever a plugin that signs in to the cluster reads.
      env: { ...(process.env as Record<string, string>), KUBECONFIG: kubeconfigFile(run) },
      cwd: folders.root,
      ports: [port],
      address: addressOf(port),
      readyUrl,
      fingerprint: createHash('sha256')
        .update(JSON.stringify([namespace, target]))
        .digest('hex'),
    };
    const running = readRunning(run).find(({ name }) => name === plan.name);
    if (running?.fingerprint === plan.fingerprint) return;
    if (running) await stopProcess(running);
    const { record } = await startProcess(plan, path.join(folders.logs, 'edge.log'));
    writeRecords(run, [record]);
  }

  async function untilAnswered({ address }: ClusterRecord, signal: AbortSignal): Promise<void> {
    const cluster = clusterOf(run, signal);
    await waitFor({ cluster, what: `an answer at ${address}`, seconds: 30 }, async () => {
      const response = await fetch(address, { signal: AbortSignal.timeout(2_000) });
      await response.arrayBuffer();
      return response.ok || undefined;
    });
  }

  async function takeBack(): Promise<void> {
    interrupted.abort(new Error('Interrupted'));
    // What an earlier start has put there stays as it is, half changed or not.
    if (before) return;
    if (made) await removeFromCluster({ run, record: made.record, clean: made.namespace });
    await stopSystem(folders);
  }

  return { up, takeBack };
}

/** How long the pods may take to be ready. */
function readSeconds(text = ''): number {
  if (text === '') return 300;
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds > 0) return seconds;
  throw new Error(`TIMEOUT is "${text}": expected a whole number of seconds`);
}
