import type { World } from './world.ts';

const GROUP = 'monitoring.coreos.com';

/** Adds the kinds of the Prometheus operator that the cluster does not have. Without the operator, they have no effect. */
export async function ensureMonitoringKinds({ cluster, onCleanUp }: World): Promise<void> {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  for (const kind of ['ServiceMonitor', 'PrometheusRule']) {
    const plural = `${kind.toLowerCase()}s`;
    const crd = ['crd', `${plural}.${GROUP}`];
    if (await cluster.kubectl(['get', ...crd, '--ignore-not-found', '--output=name'])) continue;
    onCleanUp(async (current) => void (await current.kubectl(['delete', ...crd, '--wait=false'])));
    await cluster.apply({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: crd[1] },
      spec: { group: GROUP, scope: 'Namespaced', names: { kind, plural }, versions: [version] },
    });
    await cluster.kubectl(['wait', '--for=condition=Established', ...crd]);
  }
}
