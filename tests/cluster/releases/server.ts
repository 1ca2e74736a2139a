import type { World } from '../world.ts';

/** A container, which reads its files from `/config` and may write to `/data`. */
interface Program {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
}

/** A server that reads objects of the namespace. */
export interface ServerOptions extends Program {
  readonly port: number;
  /** The path at which it reports that it is ready. */
  readonly readyPath: string;
  /** What it may read. */
  readonly rules: readonly object[];
  /** Files below `/config`. */
  readonly config?: Readonly<Record<string, string>>;
  /** A second container in its pod. */
  readonly sidecar?: Program;
  /** Default: only pods of the cluster reach it. */
  readonly type?: 'ClusterIP' | 'NodePort';
}

/** Labels of the pods of a server. */
export function labelsOf(name: string) {
  return { 'app.kubernetes.io/name': name };
}

/** Installs one pod of a server and its Service in the namespace of the tests; waits until it is ready. */
export async function installServer(
  { cluster, namespace, log }: World,
  options: ServerOptions,
): Promise<void> {
  const { name, port, rules, config = {}, type = 'ClusterIP' } = options;
  log(`installing ${name}`);
  const metadata = { name, namespace };
  const rbac = 'rbac.authorization.k8s.io';
  await cluster.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: config },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { type, selector: labelsOf(name), ports: [{ name: 'http', port }] },
    },
    deploymentOf(metadata, options),
  );
  const status = ['rollout', 'status', `deployment/${name}`, '--timeout=90s'];
  await cluster.kubectl([...status, '--namespace', namespace, '--request-timeout=0']);
}

function containerOf({ name, image, args }: Program) {
  return {
    ...{ name, image, args, imagePullPolicy: 'IfNotPresent' },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    volumeMounts: [
      { name: 'config', mountPath: '/config' },
      { name: 'data', mountPath: '/data' },
    ],
  };
}

function deploymentOf(metadata: object, options: ServerOptions) {
  const { name, port, readyPath, sidecar } = options;
  const readinessProbe = { httpGet: { path: readyPath, port }, periodSeconds: 2 };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      selector: { matchLabels: labelsOf(name) },
      template: {
        metadata: { labels: labelsOf(name) },
        spec: {
          serviceAccountName: name,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 65534,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [
            { ...containerOf(options), readinessProbe },
            ...(sidecar ? [containerOf(sidecar)] : []),
          ],
          volumes: [
            { name: 'config', configMap: { name } },
            { name: 'data', emptyDir: {} },
          ],
        },
      },
    },
  };
}
