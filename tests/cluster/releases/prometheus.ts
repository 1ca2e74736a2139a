import type { Rendered } from '../../../deploy/charts/tests/render.ts';
import type { World } from '../world.ts';
import { installServer, labelsOf } from './server.ts';

/** Reads the metrics of all pods of the namespace every 5 s, with the labels of the Prometheus operator. */
const CONFIG = {
  global: { scrape_interval: '5s' },
  rule_files: ['rules-*'],
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
        {
          source_labels: ['instance', 'name'].map(
            (label) => `__meta_kubernetes_pod_label_app_kubernetes_io_${label}`,
          ),
          separator: '-',
          target_label: 'service',
          replacement: '$1-metrics',
        },
      ],
    },
  ],
};

/** The job that the Prometheus operator makes of a Probe. */
function jobOf({ metadata, spec }: Rendered) {
  const { static: targets, labels } = spec.targets.staticConfig;
  return {
    job_name: `probe/${metadata.name}`,
    metrics_path: '/probe',
    params: { module: [spec.module] },
    scrape_interval: spec.interval,
    scrape_timeout: spec.scrapeTimeout,
    static_configs: [{ targets, labels }],
    relabel_configs: [
      { source_labels: ['__address__'], target_label: '__param_target' },
      { source_labels: ['__param_target'], target_label: 'instance' },
      { target_label: '__address__', replacement: spec.prober.url },
    ],
  };
}

/** The files in `/config`: of Prometheus, of each PrometheusRule, and of blackbox exporter. */
function filesOf(objects: readonly Rendered[]) {
  const jobs = objects.filter(({ kind }) => kind === 'Probe').map(jobOf);
  const rules = objects.filter(({ kind }) => kind === 'PrometheusRule');
  const config = { ...CONFIG, scrape_configs: [...CONFIG.scrape_configs, ...jobs] };
  const http = { preferred_ip_protocol: 'ip4' };
  return {
    'prometheus.yml': JSON.stringify(config),
    ...Object.fromEntries(
      rules.map((one) => [`rules-${one.metadata.name}`, JSON.stringify(one.spec)]),
    ),
    'blackbox.yml': JSON.stringify({ modules: { http_2xx: { prober: 'http', http } } }),
  };
}

/** Selects the pods of this Prometheus, in a NetworkPolicy. */
export const PROMETHEUS_PEERS = [{ podSelector: { matchLabels: labelsOf('prometheus') } }];

/** The address of blackbox exporter, which is in the pod of Prometheus. */
export const EXPORTER = 'localhost:9115';

/**
 * Installs Prometheus, `PROMETHEUS_IMAGE`, in the namespace of the tests; returns its address.
 *
 * @param objects with the Probes and PrometheusRules that the Prometheus operator would read; if there is a Probe,
 *   Prometheus has a blackbox exporter
 */
export async function installPrometheus(
  world: World,
  objects: readonly Rendered[] = [],
): Promise<string> {
  await installServer(world, {
    name: 'prometheus',
    image: process.env.PROMETHEUS_IMAGE || 'prom/prometheus:v3.13.5',
    args: ['--config.file=/config/prometheus.yml', '--storage.tsdb.path=/data'],
    port: 9090,
    readyPath: '/-/ready',
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }],
    config: filesOf(objects),
    ...(objects.some(({ kind }) => kind === 'Probe') && {
      sidecar: {
        name: 'blackbox-exporter',
        image: process.env.BLACKBOX_IMAGE || 'prom/blackbox-exporter:v0.28.0',
        args: ['--config.file=/config/blackbox.yml'],
      },
    }),
  });
  return `http://prometheus.${world.namespace}:9090`;
}
