import type { World } from '../world.ts';

const LABELS = { 'app.kubernetes.io/name': 'prometheus' };

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
export const PROMETHEUS_PEERS = [{ podSelector: { matchLabels: LABELS } }];

/** Installs Prometheus, `PROMETHEUS_IMAGE`, in the namespace of the tests; returns its address. */
export async function installPrometheus({ cluster, namespace, log }: World): Promise<string> {
  log('installing Prometheus');
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
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { 'prometheus.yml': JSON.stringify(CONFIG) },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: LABELS, ports: [{ port: 9090 }] },
    },
    deploymentOf(metadata),
  );
  const options = ['--namespace', namespace, '--timeout=90s', '--request-timeout=0'];
  await cluster.kubectl(['rollout', 'status', 'deployment/prometheus', ...options]);
  return `http://prometheus.${namespace}:9090`;
}

function deploymentOf(metadata: object) {
  const container = {
    name: 'prometheus',
    image: process.env.PROMETHEUS_IMAGE || 'prom/prometheus:v3.13.5',
    imagePullPolicy: 'IfNotPresent',
    args: ['--config.file=/config/prometheus.yml', '--storage.tsdb.path=/data'],
    readinessProbe: { httpGet: { path: '/-/ready', port: 9090 }, periodSeconds: 2 },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    volumeMounts: [
      { name: 'config', mountPath: '/config' },
      { name: 'data', mountPath: '/data' },
    ],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: {
          serviceAccountName: 'prometheus',
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 65534,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [container],
          volumes: [
            { name: 'config', configMap: { name: 'prometheus' } },
            { name: 'data', emptyDir: {} },
          ],
        },
      },
    },
  };
}
