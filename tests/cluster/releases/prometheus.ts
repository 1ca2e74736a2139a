import type { World } from '../world.ts';
import { installServer, labelsOf } from './server.ts';

/** Reads the metrics of all pods of the namespace every 5 s, with the labels of the Prometheus operator. */
const CONFIG = {
  global: { scrape_interval: '5s' },
  scrape_configs: [
    {
      job_name: 'pods',
      kubernetes_sd_configs: [{ role: 'pod', namespaces: { own_namespace: true } }],
      relabel_configs: [
        {
          source_labels: ['__meta_kubernetes_pod_container_port_name'],
          regex: 'health',
          action: 'keep',
        },
        { source_labels: ['__meta_kubernetes_namespace'], target_label: 'namespace' },
        { source_labels: ['__meta_kubernetes_pod_name'], target_label: 'pod' },
      ],
    },
  ],
};

/** Selects the pods of this Prometheus, in a NetworkPolicy. */
export const PROMETHEUS_PEERS = [{ podSelector: { matchLabels: labelsOf('prometheus') } }];

/** Installs Prometheus, `PROMETHEUS_IMAGE`, in the namespace of the tests; returns its address. */
export async function installPrometheus(world: World): Promise<string> {
  await installServer(world, {
    name: 'prometheus',
    image: process.env.PROMETHEUS_IMAGE || 'prom/prometheus:v3.13.5',
    args: ['--config.file=/config/prometheus.yml', '--storage.tsdb.path=/data'],
    port: 9090,
    readyPath: '/-/ready',
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }],
    config: { 'prometheus.yml': JSON.stringify(CONFIG) },
  });
  return `http://prometheus.${world.namespace}:9090`;
}
