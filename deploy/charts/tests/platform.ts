import fs from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

import { SERVICE_NAMES, SERVICES } from '../../../services/services.ts';
import { CHARTS } from '../folder.ts';
import type { Rendered, Values } from './render.ts';

/** The host of the ingresses in `PLATFORMS`. */
export const HOST = 'api.example.org';

/** The two examples in the README of the platform. */
const [EXTERNAL = {}, ALONE = {}] = fs
  .readFileSync(path.join(CHARTS, 'platform/README.md'), 'utf8')
  .matchAll(/```yaml\n(.*?)```/gs)
  .map(([, text = '']): Values => parse(text))
  // The README shows the services of this repository; a further one has the values of users.
  .map((values) => ({ ...forDatabases(values.users), ...values }));

/** Values for each service with a database. */
export function forDatabases(values: unknown): Values {
  const services = SERVICES.filter(({ store }) => store === 'database');
  return Object.fromEntries(services.map(({ name }) => [name, values]));
}

/** Values that install no service except `name`. */
export function onlyService(name: string): Values {
  const others = SERVICE_NAMES.filter((other) => other !== name);
  return Object.fromEntries(others.map((other) => [other, { enabled: false }]));
}

/** Values with which the tests render the platform. */
export const PLATFORMS = {
  defaults: {},
  'external servers': EXTERNAL,
  'no servers': ALONE,
  'f5-nginx': {
    global: {
      ingress: {
        enabled: true,
        hosts: [{ host: HOST }],
        tls: [{ secretName: 'certificate', hosts: [HOST] }],
      },
    },
  },
  'ingress-nginx': {
    global: { ingress: { enabled: true, hosts: [{ host: HOST }], controller: 'ingress-nginx' } },
  },
  'a gateway': {
    global: {
      httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
      networkPolicy: { from: [{ podSelector: { matchLabels: { app: 'gateway' } } }] },
    },
    edge: { enabled: false },
  },
  'one pod each': {
    edge: { replicaCount: 1, service: { type: 'NodePort', nodePort: 30_080 }, allowFrom: [{}] },
    postgres: { storage: { ephemeral: true } },
    users: { replicaCount: 1 },
  },
  'TLS at the edge': {
    edge: { service: { type: 'LoadBalancer' }, tls: { secretName: 'edge-tls' }, allowFrom: [{}] },
  },
  'users only': {
    ...onlyService('users'),
    valkey: { enabled: false },
    tokens: { enabled: false },
  },
  'images of one registry': {
    global: {
      image: { registry: 'registry.example.org', tag: '1.2.3', pullPolicy: 'Always' },
      imagePullSecrets: [{ name: 'registry' }],
    },
  },
} as const satisfies Readonly<Record<string, Values>>;

/** The pods of a Deployment, a StatefulSet or a test. */
export interface Pods {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: Rendered['spec'];
}

/** All pods that `objects` create. */
export function podsOf(objects: readonly Rendered[]): Pods[] {
  return objects.flatMap(({ kind, metadata, spec }) => {
    if (kind === 'Pod') return [{ name: metadata.name, labels: metadata.labels ?? {}, spec }];
    if (kind !== 'Deployment' && kind !== 'StatefulSet') return [];
    const { template } = spec;
    return [{ name: metadata.name, labels: template.metadata.labels, spec: template.spec }];
  });
}

/** The pods that a selector matches. */
export function selected(
  pods: readonly Pods[],
  selector: Readonly<Record<string, string>>,
): readonly Pods[] {
  return pods.filter(({ labels }) =>
    Object.entries(selector).every(([name, text]) => labels[name] === text),
  );
}

/** The names of all objects of `kind`. */
export function namesOf(objects: readonly Rendered[], kind: string): string[] {
  return objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);
}
