import type { Rendered } from '../../../deploy/charts/tests/render.ts';
import type { World } from '../world.ts';

/** Reads the metrics of all pods of the namespace every 5 s, with the labels of the Prometheus operator. */
const PODS = {
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
      source_labels: [
        '__meta_kubernetes_pod_label_app_kubernetes_io_instance',
        '__meta_kubernetes_pod_label_app_kubernetes_io_name',
      ],
      separator: '-',
      target_label: 'service',
      replacement: '$1-metrics',
    },
  ],
};

const labelsOf = (name: string) => ({ 'app.kubernetes.io/name': name });

/** Selects the pods of this Prometheus, in a NetworkPolicy. */
export const PROMETHEUS_PEERS = [{ podSelector: { matchLabels: labelsOf('prometheus') } }];

/**
 * Installs Prometheus, `PROMETHEUS_IMAGE`, in the namespace of the tests; returns its address.
 *
 * @param objects the Probes and PrometheusRules that the Prometheus operator would read
 */
export async function installPrometheus(
  world: World,
  objects: readonly Rendered[] = [],
): Promise<string> {
  const { cluster, namespace } = world;
  const metadata = { name: 'prometheus', namespace };
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }];
  const rbac = 'rbac.authorization.k8s.io';
  await cluster.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'prometheus' },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
  );
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
  const config = {
    global: { scrape_interval: '5s' },
    rule_files: ['rules-*'],
    scrape_configs: [PODS, ...ofKind('Probe').map(jobOf)],
  };
  return installServer(world, {
    name: 'prometheus',
    image: process.env.PROMETHEUS_IMAGE || 'prom/prometheus:v3.13.5',
    port: 9090,
    args: ['--config.file=/config/prometheus.yml', '--storage.tsdb.path=/data'],
    readyPath: '/-/ready',
    serviceAccountName: 'prometheus',
    files: {
      'prometheus.yml': JSON.stringify(config),
      ...Object.fromEntries(
        ofKind('PrometheusRule').map(({ metadata: { name }, spec }) => [
          `rules-${name}`,
          JSON.stringify(spec),
        ]),
      ),
    },
  });
}

/** The job that the Prometheus operator makes of a Probe. */
function jobOf({ metadata, spec }: Rendered): object {
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

/** Installs blackbox exporter, `BLACKBOX_IMAGE`, which trusts only this certificate; returns its host and port. */
export async function installExporter(world: World, authority: string): Promise<string> {
  const http = { preferred_ip_protocol: 'ip4', tls_config: { ca_file: '/config/ca.crt' } };
  const address = await installServer(world, {
    name: 'blackbox-exporter',
    image: process.env.BLACKBOX_IMAGE || 'prom/blackbox-exporter:v0.28.0',
    port: 9115,
    args: ['--config.file=/config/blackbox.yml'],
    readyPath: '/-/healthy',
    files: {
      'blackbox.yml': JSON.stringify({ modules: { http_2xx: { prober: 'http', http } } }),
      'ca.crt': authority,
    },
  });
  return new URL(address).host;
}

interface Server {
  readonly name: string;
  readonly image: string;
  readonly port: number;
  readonly args: readonly string[];
  readonly readyPath: string;
  readonly serviceAccountName?: string;
  /** The files in `/config`. */
  readonly files: Readonly<Record<string, string>>;
}

/** Installs a server with one pod, and waits until it is ready; returns its address. */
async function installServer(
  { cluster, namespace, log }: World,
  { name, image, port, args, readyPath, serviceAccountName, files }: Server,
): Promise<string> {
  log(`installing ${image}`);
  const metadata = { name, namespace };
  const container = {
    ...{ name, image, imagePullPolicy: 'IfNotPresent', args },
    readinessProbe: { httpGet: { path: readyPath, port }, periodSeconds: 2 },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    volumeMounts: [
      { name: 'config', mountPath: '/config' },
      { name: 'data', mountPath: '/data' },
    ],
  };
  const spec = {
    serviceAccountName,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65534,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [container],
    volumes: [
      { name: 'config', configMap: { name } },
      { name: 'data', emptyDir: {} },
    ],
  };
  const labels = labelsOf(name);
  await cluster.apply(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: files },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port }] } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
  );
  const options = ['--namespace', namespace, '--timeout=90s', '--request-timeout=0'];
  await cluster.kubectl(['rollout', 'status', `deployment/${name}`, ...options]);
  return `http://${name}.${namespace}:${port}`;
}
