import fs from 'node:fs';
import path from 'node:path';

import { createMetrics } from '@fw/service';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { SERVICE_NAMES } from '../../../services/services.ts';

import { CHARTS } from '../folder.ts';
import { charts, only, type Rendered, SHARED, type Values } from './render.ts';

const MONITORED: Values = {
  metrics: {
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    prometheusRule: { enabled: true, runbookUrl: 'https://docs.example.org/runbook' },
    dashboard: { enabled: true },
  },
};

test('monitoring is disabled by default', () => {
  const kinds = charts.render('reports', SHARED.reports).map(({ kind }) => kind);

  expect(kinds).not.toContain('ServiceMonitor');
  expect(kinds).not.toContain('PrometheusRule');
  expect(kinds.filter((kind) => kind === 'ConfigMap')).toHaveLength(1);
});

test('the rule in the README provides the custom metric of the autoscaler', async () => {
  const readme = fs.readFileSync(path.join(CHARTS, 'README.md'), 'utf8');
  const [, text = ''] = /```yaml\n(rules:\n.*?)```/s.exec(readme) ?? [];
  const [rule] = parse(text).rules.custom;
  const autoscaler = only(
    charts.render('users', {
      ...SHARED.users,
      autoscaling: { enabled: true, requestsPerSecond: 50 },
    }),
    'HorizontalPodAutoscaler',
  );

  const metrics = await createMetrics().register.metrics();

  expect(metrics).toContain(`# TYPE ${rule.seriesQuery.replace(/\{.*/, '')} counter`);
  expect(autoscaler.spec.metrics[1].pods.metric.name).toBe(rule.name.as);
});

describe.each(SERVICE_NAMES)('%s', (chart) => {
  let objects: Rendered[];
  let groups: Rendered[];
  let rules: Rendered[];
  let alerts: Rendered[];
  beforeAll(() => {
    objects = charts.render(chart, { ...SHARED[chart], ...MONITORED });
    groups = only(objects, 'PrometheusRule').spec.groups;
    rules = groups.flatMap(({ rules: some }) => some);
    alerts = rules.filter(({ alert }) => alert !== undefined);
  });

  test('a headless Service exposes the health ports to Prometheus', () => {
    const monitor = only(objects, 'ServiceMonitor');
    const { metadata, spec } = only(objects, 'Service', `fw-${chart}-metrics`);

    expect(metadata.labels).toMatchObject(monitor.spec.selector.matchLabels);
    expect(only(objects, 'Service', `fw-${chart}`).metadata.labels).not.toMatchObject(
      monitor.spec.selector.matchLabels,
    );
    expect(spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
    expect(spec.ports).toEqual([{ name: 'health', port: 9090, targetPort: 'health' }]);
    expect(monitor.spec.endpoints).toEqual([{ port: 'health', path: '/metrics', interval: '30s' }]);
    expect(monitor.metadata.labels).toMatchObject({ release: 'prometheus' });
  });

  test('the names of the release replace all placeholders', () => {
    const dashboard = only(objects, 'ConfigMap', `fw-${chart}-dashboard`).data[`fw-${chart}.json`];

    expect(JSON.parse(dashboard)).toMatchObject({
      uid: `trial-fw-${chart}`,
      title: `fw-${chart} in trial`,
    });
    expect(JSON.stringify(groups) + dashboard).not.toMatch(/NAMESPACE|SERVICE|RUNBOOK/);
  });

  test('alerts have a severity, the service, a summary and a link to the runbook', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(labels).toMatchObject({
        severity: expect.stringMatching(/^(critical|warning)$/),
        namespace: 'trial',
        service: `fw-${chart}`,
      });
      expect(annotations?.summary).toContain(`fw-${chart}`);
      expect(annotations?.runbook_url).toBe(
        `https://docs.example.org/runbook#${alert.toLowerCase()}`,
      );
    }
  });

  test('alerts without the address of a runbook have no link', () => {
    const metrics = { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } };
    const rendered = only(charts.render(chart, { ...SHARED[chart], metrics }), 'PrometheusRule');
    const annotations: object[] = rendered.spec.groups
      .flatMap((group: Rendered) => group.rules)
      .flatMap((rule: Rendered) => rule.annotations ?? []);

    expect(annotations).toHaveLength(alerts.length);
    for (const one of annotations) expect(Object.keys(one)).toEqual(['summary']);
  });

  test('alerts match the features of the service', () => {
    const names = alerts.map(({ alert }) => alert);

    expect(names.includes('DatabasePoolExhausted')).toBe(chart !== 'reports');
    expect(names.includes('RateLimitBudgetBurn')).toBe(chart === 'reports');
  });

  test('pods report the tag of their image as version', () => {
    const version = (values: Values) =>
      only(charts.render(chart, { ...SHARED[chart], ...values }), 'ConfigMap').data.SERVICE_VERSION;

    expect(version({ image: { tag: '1.2.3' } })).toBe('1.2.3');
    expect(version({ image: { tag: '1.2.3' }, global: { image: { tag: '1.3.0' } } })).toBe('1.3.0');
  });
});
