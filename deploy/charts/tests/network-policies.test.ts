import { describe, expect, test } from 'vitest';

import { charts, only, type Rendered, SHARED, type Values } from './render.ts';

const renderUsers = (values: Values = {}) => charts.render('users', { ...SHARED.users, ...values });
const renderReports = (values: Values = {}) =>
  charts.render('reports', { ...SHARED.reports, ...values });

describe('the NetworkPolicies', () => {
  const policyOf = (objects: readonly Rendered[], name = 'fw-users') =>
    only(objects, 'NetworkPolicy', name).spec;
  const DNS = [53, 5353].flatMap((port) => [
    { port, protocol: 'UDP' },
    { port, protocol: 'TCP' },
  ]);

  test('block all traffic by default', () => {
    const { policyTypes, ...rest } = policyOf(renderUsers(), 'fw-users-deny');

    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    expect(Object.keys(rest)).toEqual(['podSelector']);
  });

  test('allow labelled callers, monitoring, DNS and the database', () => {
    const { ingress, egress } = policyOf(renderUsers());

    expect(ingress).toEqual([
      {
        from: [{ podSelector: { matchLabels: { 'fw/calls-users': 'true' } } }],
        ports: [{ port: 8080 }],
      },
      {
        from: [
          { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
        ],
        ports: [{ port: 9090 }],
      },
    ]);
    expect(egress).toMatchObject([{ ports: DNS }, { ports: [{ port: 5433 }] }]);
    expect(egress).toHaveLength(2);
  });

  test('take peers and port of the database from values if a Secret has the address', () => {
    const peer = { podSelector: { matchLabels: { db: '{{ .Release.Name }}' } } };
    const { egress } = policyOf(
      charts.render('users', {
        store: { type: 'postgres', postgres: { existingSecret: { name: 'db' }, port: 6432 } },
        networkPolicy: { databaseTo: [peer] },
      }),
    );

    expect(egress[1]).toEqual({
      ports: [{ port: 6432 }],
      to: [{ podSelector: { matchLabels: { db: 'fw' } } }],
    });
  });

  test('allow only DNS for a service with SQLite', () => {
    expect(policyOf(charts.render('users')).egress).toHaveLength(1);
  });

  test('allow reports to call its servers and services', () => {
    const objects = renderReports({
      config: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' },
      jwt: { secret: '', jwksUrl: 'https://keys.example.org' },
    });
    const pods = (name: string) => ({
      to: [
        {
          podSelector: {
            matchLabels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/part-of': 'fw' },
          },
        },
      ],
      ports: [{ port: 8080 }],
    });

    expect(policyOf(objects, 'fw-reports').egress.slice(1)).toEqual([
      { ports: [{ port: 6380 }] },
      { ports: [{ port: 443 }] },
      { ports: [{ port: 4318 }] },
      pods('catalog'),
      pods('users'),
    ]);
    expect(only(objects, 'Deployment').spec.template.metadata.labels).toMatchObject({
      'fw/calls-users': 'true',
      'fw/calls-catalog': 'true',
    });
  });

  test('allow an upstream of another namespace by the port of its address and of its pods', () => {
    const peer = { namespaceSelector: { matchLabels: { team: 'people' } } };
    const { egress } = policyOf(
      renderReports({
        upstreams: {
          users: 'http://users.people',
          catalog: 'https://ada@api.example.org:8443/shop',
        },
        networkPolicy: { upstreamsTo: [peer] },
      }),
      'fw-reports',
    );

    expect(egress.slice(2)).toEqual(
      [8443, 8080, 80, 8080].map((port) => ({ ports: [{ port }], to: [peer] })),
    );
  });

  test('allow the namespace of the ingress controller and the peers in the values', () => {
    const { ingress } = policyOf(
      renderUsers({
        ingress: { enabled: true, hosts: [{ host: 'api.example.org' }] },
        networkPolicy: { from: [{ podSelector: { matchLabels: { app: 'probe' } } }] },
        global: { networkPolicy: { from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] } },
      }),
    );

    expect(ingress[0].from.slice(1)).toEqual([
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'nginx-ingress' } } },
      { ipBlock: { cidr: '10.0.0.0/8' } },
      { podSelector: { matchLabels: { app: 'probe' } } },
    ]);
  });

  test('allow helm test to call only its service', () => {
    const { ingress, egress } = policyOf(renderUsers(), 'fw-users-test');

    expect(ingress).toBeUndefined();
    expect(egress).toMatchObject([
      { ports: DNS },
      {
        to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/component': 'server' } } }],
        ports: [{ port: 8080 }],
      },
    ]);
  });
});
