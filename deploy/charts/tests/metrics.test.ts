import fs from 'node:fs';
import path from 'node:path';

import { createMetrics } from '@fw/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { CHARTS } from '../dependencies.ts';
import { only, packCharts, type Rendered, SHARED, type Values } from './render.ts';

const charts = packCharts();
afterAll(() => charts[Symbol.dispose]());

const MONITORED: Values = {
  metrics: {
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    prometheusRule: { enabled: true, errorShare: 0.02, p99Seconds: 1.5 },
    dashboard: { enabled: true },
  },
};

/** All series of a service by name, from a process in which every metric has a value. */
const known = new Map<string, string[]>();

beforeAll(async () => {
  const metrics = createMetrics({ hasProcessMetrics: true });
  metrics.begin();
  metrics.end({ method: 'GET', route: '', status: 500, durationMs: 1 });
  metrics.countShed('in_flight');
  metrics.countDecisions('v1', (_, next) => next());
  metrics.watchPool('users', () => ({ size: 2, idle: 1, waiting: 1 }));
  for (const [, name = '', labels = ''] of (await metrics.register.metrics()).matchAll(
    /^([a-z][\w]*)(?:\{(.*)\})? /gm,
  )) {
    known.set(name, [...(known.get(name) ?? []), labels]);
  }
});

test('monitoring is disabled by default', () => {
  const kinds = charts.render('reports', SHARED.reports).map(({ kind }) => kind);

  expect(kinds).not.toContain('ServiceMonitor');
  expect(kinds).not.toContain('PrometheusRule');
  expect(kinds.filter((kind) => kind === 'ConfigMap')).toHaveLength(1);
});

test('the rule in the README provides the custom metric of the autoscaler', () => {
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

  expect(known.has(rule.seriesQuery.replace(/\{.*/, ''))).toBe(true);
  expect(autoscaler.spec.metrics[1].pods.metric.name).toBe(rule.name.as);
});

describe.each(['users', 'catalog', 'reports'])('%s', (chart) => {
  const objects = charts.render(chart, { ...SHARED[chart], ...MONITORED });
  const rules: Rendered[] = only(objects, 'PrometheusRule').spec.groups[0].rules;
  const dashboard = JSON.parse(
    only(objects, 'ConfigMap', `fw-${chart}-dashboard`).data[`fw-${chart}.json`],
  );
  const queries: string[] = [
    ...rules.map(({ expr }) => expr),
    ...dashboard.panels.map(({ targets }: Rendered) => targets[0].expr),
  ];

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

  test('queries use only metrics and labels that the service has', () => {
    for (const query of queries) {
      const selectors = [...query.matchAll(/(\w+)\{([^}]*)\}/g)];
      expect(selectors.length, query).toBeGreaterThan(0);
      for (const [, name = '', matchers = ''] of selectors) {
        const [namespace, service, ...others] = matchers.split(',').map((one) => one.trim());
        expect(namespace).toBe('namespace="trial"');
        expect(service).toBe(`service="fw-${chart}-metrics"`);
        if (name === 'up') continue;
        const series = known.get(name) ?? [];
        expect(series, name).not.toEqual([]);
        for (const matcher of others) {
          expect(series.join(), query).toContain(matcher);
        }
        // Prometheus adds the label pod.
        const [, kept = ''] = /by \(([^)]*)\)/.exec(query) ?? [];
        for (const label of kept.split(', ').filter((one) => one !== '' && one !== 'pod')) {
          expect(series.join(), query).toContain(`${label}="`);
        }
      }
    }
  });

  test('legends use only labels of their queries', () => {
    for (const { targets } of dashboard.panels) {
      const [{ expr, legendFormat }] = targets;
      const [, kept = ''] = /by \(([^)]*)\)/.exec(expr) ?? [];
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
        expect(kept.split(', ')).toContain(label);
      }
    }
  });

  test('alerts have a unique name, a severity, a duration and the service', () => {
    for (const { labels, annotations, ...rule } of rules) {
      expect(labels).toEqual({
        severity: expect.stringMatching(/^(critical|warning)$/),
        namespace: 'trial',
        service: `fw-${chart}`,
      });
      expect(annotations?.summary).toContain(`fw-${chart}`);
      expect(rule.for).toMatch(/^\d+m$/);
    }
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  test('alerts match the features of the service and the thresholds in the values', () => {
    const alerts = rules.map(({ alert }) => alert);
    const exprOf = (name: string) => rules.find(({ alert }) => alert === name)?.expr;

    expect(alerts.includes('ServiceWaitsForDatabase')).toBe(chart !== 'reports');
    expect(alerts.includes('LimitsFail')).toBe(chart === 'reports');
    expect(exprOf('ServiceFails')).toMatch(/> 0\.02$/);
    expect(exprOf('ServiceSlow')).toMatch(/> 1\.5$/);
  });
});
