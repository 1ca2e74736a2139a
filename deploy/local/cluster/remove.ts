import { deleteKindCluster } from './kind.ts';
import { removePlatform } from './platform.ts';
import { type ClusterRecord, clusterOf, kubeconfigFile } from './record.ts';
import { limitedBy, reasonOf } from './within.ts';

export interface RemoveOptions {
  readonly run: string;
  readonly record: ClusterRecord;
  /** Removes the data too; those on a cluster of kind always go with it. */
  readonly clean: boolean;
}

/**
 * Takes back what `make up` has put onto a cluster, and tells what it did.
 *
 * @throws {Error} if the cluster does not let it, which then stays written down
 */
export async function removeFromCluster({ run, record, clean }: RemoveOptions): Promise<string> {
  const { backend, cluster: name, namespace } = record;
  const within = limitedBy(new AbortController().signal);
  if (backend === 'kind') {
    await within(180, `deleting the kind cluster ${name}`, (signal) =>
      deleteKindCluster({ name, kubeconfig: kubeconfigFile(run), signal }),
    );
    return `Deleted the kind cluster ${name}, and the data in it`;
  }
  const claims = await within(300, 'waiting for that', (signal) =>
    removePlatform(clusterOf(run, signal), { ...record, clean }),
  ).catch((error: unknown) => {
    throw new Error(
      `Cannot remove the charts from ${namespace} of ${name}: ${reasonOf(error)}; where the cluster ` +
        'is gone for good, remove .local/run and run this again',
      { cause: error },
    );
  });
  const removed = `Removed the charts from ${namespace} of ${name}`;
  if (claims.length === 0) return removed;
  const remove = `kubectl delete --namespace ${namespace} pvc ${claims.join(' ')}`;
  return `${removed}; the data stay (${remove})`;
}
