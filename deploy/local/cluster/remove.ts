import { deleteKind } from './kind.ts';
import { removePlatform } from './platform.ts';
import { type ClusterRecord, clusterOf, kubeconfigFile } from './record.ts';
import { createTimeLimit, reasonOf } from './time-limit.ts';

export interface RemoveOptions {
  readonly run: string;
  readonly record: ClusterRecord;
  /** Removes the data too. On kind, it is always removed. */
  readonly clean: boolean;
}

/** Removes the system from its cluster. Returns a summary. @throws {Error} if the cluster rejects it */
export async function removeFromCluster({ run, record, clean }: RemoveOptions): Promise<string> {
  const { backend, cluster: name, namespace } = record;
  const limit = createTimeLimit();
  if (backend === 'kind') {
    await limit(180, `deleting the kind cluster ${name}`, (signal) =>
      deleteKind(record, { kubeconfig: kubeconfigFile(run), signal }),
    ).catch((cause: unknown) => {
      throw new Error(`Cannot delete the kind cluster ${name}: ${reasonOf(cause)}`, { cause });
    });
    return `Deleted the kind cluster ${name} and its data`;
  }
  const claims = await limit(300, 'waiting for the removal', (signal) =>
    removePlatform(clusterOf(run, signal), { ...record, clean }),
  ).catch((cause: unknown) => {
    throw new Error(
      `Cannot remove the charts from ${namespace} of ${name}: ${reasonOf(cause)}; if the cluster ` +
        'no longer exists, delete .local/run and run this again',
      { cause },
    );
  });
  const removed = `Removed the charts from ${namespace} of ${name}`;
  if (claims.length === 0) return removed;
  const remove = `kubectl delete --namespace ${namespace} pvc ${claims.join(' ')}`;
  return `${removed}; the data remains (${remove})`;
}
