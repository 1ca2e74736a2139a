import { afterAll, describe, expect, test } from 'vitest';

import { only, packCharts, type Rendered, SHARED, type Values } from './render.ts';

const charts = packCharts();
afterAll(() => charts[Symbol.dispose]());

const renderUsers = (values: Values = {}) => charts.render('users', { ...SHARED.users, ...values });

describe('an Ingress', () => {
  const ingressOf = (ingress: Values, more: Values = {}) =>
    only(
      renderUsers({
        ingress: { enabled: true, hosts: [{ host: 'api.example.org' }], ...ingress },
        ...more,
      }),
      'Ingress',
    );

  test('matches whole path segments and rewrites nothing', () => {
    const { spec } = ingressOf({});

    expect(spec.rules).toHaveLength(1);
    expect(
      spec.rules[0].http.paths.map((one: Rendered) => [one.path, one.pathType, one.backend]),
    ).toEqual(
      ['/api/v1/users', '/api/v2/users', '/docs/users'].map((path) => [
        path,
        'Prefix',
        { service: { name: 'fw-users', port: { name: 'http' } } },
      ]),
    );
  });

  test('for f5-nginx is a minion without a certificate if it is mergeable', () => {
    const { metadata, spec } = ingressOf({ mergeable: true });

    expect(metadata.annotations).toEqual({
      'nginx.org/client-max-body-size': '1048576',
      'nginx.org/mergeable-ingress-type': 'minion',
      'nginx.org/proxy-read-timeout': '30s',
      'nginx.org/proxy-send-timeout': '30s',
    });
    expect(spec.ingressClassName).toBe('nginx');
    expect(spec).not.toHaveProperty('tls');
  });

  test('for f5-nginx owns the host by default', () => {
    const { metadata, spec } = ingressOf({
      tls: [{ secretName: 'certificate', hosts: ['api.example.org'] }],
    });

    expect(metadata.annotations).not.toHaveProperty('nginx.org/mergeable-ingress-type');
    expect(spec.tls).toEqual([{ hosts: ['api.example.org'], secretName: 'certificate' }]);
  });

  test('for ingress-nginx has time-outs above those of the service', () => {
    const { metadata } = ingressOf(
      { controller: 'ingress-nginx' },
      { config: { REQUEST_TIMEOUT_MS: 45_000, BODY_LIMIT: 2_097_152 } },
    );

    expect(metadata.annotations).toEqual({
      'nginx.ingress.kubernetes.io/proxy-body-size': '2097152',
      'nginx.ingress.kubernetes.io/proxy-read-timeout': '55',
      'nginx.ingress.kubernetes.io/proxy-send-timeout': '55',
    });
  });

  test('for no controller has neither annotations nor a class', () => {
    const { metadata, spec } = ingressOf({ controller: 'none', controllerNamespace: 'traefik' });

    expect(metadata).not.toHaveProperty('annotations');
    expect(spec).not.toHaveProperty('ingressClassName');
  });
});

test('an HTTPRoute splits the traffic by weight', () => {
  const { spec } = only(
    renderUsers({
      httpRoute: {
        enabled: true,
        parentRefs: [{ name: 'public', namespace: 'gateways' }],
        weight: 90,
        others: [{ name: 'users-next', weight: 10 }],
      },
      networkPolicy: { from: [{ namespaceSelector: {} }] },
    }),
    'HTTPRoute',
  );

  expect(spec.parentRefs).toEqual([{ name: 'public', namespace: 'gateways' }]);
  expect(spec.rules).toEqual([
    {
      matches: ['/api/v1/users', '/api/v2/users', '/docs/users'].map((value) => ({
        path: { type: 'PathPrefix', value },
      })),
      timeouts: { request: '30s' },
      backendRefs: [
        { name: 'fw-users', port: 80, weight: 90 },
        { name: 'users-next', port: 80, weight: 10 },
      ],
    },
  ]);
});
