import { describe, expect, test } from 'vitest';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { charts, namesOf, only, podOf, podsOf, type Rendered, selected } from './render.ts';
import {
  merge,
  PLATFORMS,
  PRODUCTION,
  PRODUCTION_FILE,
  REQUESTS_PER_SECOND,
  TOKENS,
} from './values.ts';

test.each([
  ['users: tokens are required', {}],
  ['config.JWT_ISSUER is empty', { users: { config: { JWT_JWKS_URL: 'https://a.example/keys' } } }],
  ['users: networkPolicy.egress.database.to is empty', { users: { config: TOKENS } }],
])('the values for production ask for keys and addresses: %s', (message, more) => {
  expect(() => charts.render('platform', merge(PRODUCTION_FILE, more))).toThrow(message);
});

test('the values for production render the same text each time, without Secrets and trial servers', () => {
  const args = ['template', 'fw', 'platform', '--values', '-'];
  const template = () => charts.helm(args, PRODUCTION).stdout;
  const objects = charts.render('platform', PRODUCTION);
  const deployments = SERVICE_NAMES.map((name) => `fw-${name}`).sort();

  expect(template()).toBe(template());
  expect([...namesOf(objects, 'Secret'), ...namesOf(objects, 'StatefulSet')]).toEqual([]);
  for (const kind of [
    ...['Deployment', 'HorizontalPodAutoscaler', 'PodDisruptionBudget', 'HTTPRoute'],
    ...['ServiceMonitor', 'PrometheusRule'],
  ]) {
    expect(namesOf(objects, kind).sort(), kind).toEqual(deployments);
  }
});

test('the autoscalers for production aim for 0.4 core per pod, and can count requests per second, too', () => {
  const objects = charts.render('platform', merge(PRODUCTION, REQUESTS_PER_SECOND));

  for (const name of SERVICE_NAMES) {
    const [cpu, ...others] = only(objects, 'HorizontalPodAutoscaler', `fw-${name}`).spec.metrics;
    const { requests } = podOf(objects, `fw-${name}`).containers[0].resources;
    const percent = cpu.resource.target.averageUtilization;
    expect((percent / 100) * Number.parseInt(requests.cpu, 10), name).toBe(400);
    expect(others).toMatchObject([{ pods: { metric: { name: 'http_requests_per_second' } } }]);
  }
});

/** The kinds of the charts, all of which belong to a namespace. */
const NAMESPACED = [
  ...['AnalysisTemplate', 'ConfigMap', 'Deployment', 'HTTPRoute', 'HorizontalPodAutoscaler'],
  ...[
    'Ingress',
    'NetworkPolicy',
    'PersistentVolumeClaim',
    'Pod',
    'PodDisruptionBudget',
    'PrometheusRule',
  ],
  ...['Rollout', 'Secret', 'Service', 'ServiceAccount', 'ServiceMonitor', 'StatefulSet'],
];

describe.each(Object.entries(PLATFORMS))('%s', (_, values) => {
  test('two releases in one namespace have no common name, and select no object of the other', () => {
    const one = charts.render('platform', values, { release: 'one' });
    const two = charts.render('platform', values, { release: 'two' });
    const names = two.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const others = {
      pods: podsOf(two),
      Services: two.flatMap(({ kind, metadata }) =>
        kind === 'Service'
          ? [{ name: metadata.name, labels: metadata.labels ?? {}, spec: undefined }]
          : [],
      ),
    };

    for (const { kind, metadata, spec } of one) {
      expect(names).not.toContain(`${kind} ${metadata.name}`);
      const selector = spec?.podSelector ?? spec?.selector;
      if (!selector) continue;
      const found = others[kind === 'ServiceMonitor' ? 'Services' : 'pods'];
      expect(selected(found, selector.matchLabels ?? selector), metadata.name).toEqual([]);
    }
  });

  test('a release has no object outside its namespace, and its own alerts and dashboards', () => {
    const [one, two] = ['a'.repeat(50), `${'a'.repeat(50)}2`].map((namespace) =>
      charts.render('platform', values, { namespace }),
    ) as [Rendered[], Rendered[]];

    for (const { kind, metadata } of one) {
      expect(NAMESPACED).toContain(kind);
      expect(metadata).not.toHaveProperty('namespace');
    }
    const sharedWithTwo = sharedNamesOf(two);
    expect(sharedNamesOf(one).filter((name) => sharedWithTwo.includes(name))).toEqual([]);
  });
});

/** What Prometheus and Grafana keep for all namespaces: rules with their labels, and dashboards. */
function sharedNamesOf(objects: readonly Rendered[]): string[] {
  return objects.flatMap(({ kind, metadata, spec, data }) => {
    if (kind === 'PrometheusRule') {
      return spec.groups.flatMap((group: { rules: Rendered[] }) =>
        group.rules.map(({ record, alert, labels }) => JSON.stringify([record, alert, labels])),
      );
    }
    if (!metadata.labels?.grafana_dashboard) return [];
    return Object.entries<string>(data).flatMap(([file, text]) => [file, JSON.parse(text).uid]);
  });
}
