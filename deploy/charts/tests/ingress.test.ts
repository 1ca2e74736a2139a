import { describe, expect, test } from 'vitest';

import { charts, only, type Rendered, SHARED, type Values } from './render.ts';

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

  test('has annotations of the values, but its kind for f5-nginx from the chart', () => {
    const type = 'nginx.org/mergeable-ingress-type';
    const annotations = { [type]: 'other', 'nginx.org/proxy-read-timeout': '7s', team: 'one' };
    const hosts = [{ host: 'api.example.org' }];
    const platform = charts.render('platform', {
      global: { ingress: { enabled: true, hosts, annotations } },
    });
    const kindOf = (name: string) => only(platform, 'Ingress', name).metadata.annotations?.[type];

    expect(ingressOf({ mergeable: true, annotations }).metadata.annotations).toMatchObject({
      ...annotations,
      [type]: 'minion',
    });
    expect(['fw-platform', 'fw-edge', 'fw-users'].map(kindOf)).toEqual([
      'master',
      'minion',
      'minion',
    ]);
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

describe('an HTTPRoute', () => {
  const PATHS = ['/api/v1/users', '/api/v2/users', '/docs/users'];
  const routeTo = (others: readonly Values[], route: Values = {}) =>
    only(
      renderUsers({
        httpRoute: {
          enabled: true,
          parentRefs: [{ name: 'public', namespace: 'gateways' }],
          weight: 90,
          others,
          ...route,
        },
        networkPolicy: { from: [{ namespaceSelector: {} }] },
      }),
      'HTTPRoute',
    ).spec;
  const pathMatches = PATHS.map((value) => ({ path: { type: 'PathPrefix', value } }));

  test('splits the traffic by weight', () => {
    const spec = routeTo([{ name: 'users-next', weight: 10 }]);

    expect(spec.parentRefs).toEqual([{ name: 'public', namespace: 'gateways' }]);
    expect(spec.rules).toEqual([
      {
        matches: pathMatches,
        timeouts: { request: '30s' },
        backendRefs: [
          { name: 'fw-users', port: 80, weight: 90 },
          { name: 'users-next', port: 80, weight: 10 },
        ],
      },
    ]);
  });

  test('keeps names and large weights that YAML would read as another type', () => {
    const headers = { '~': '1', true: 'no' };
    const { rules } = routeTo([{ name: '1', weight: 1_000_000, headers }], { weight: 1_000_000 });

    expect(rules[0].matches[0].headers).toEqual([
      { name: 'true', value: 'no' },
      { name: '~', value: '1' },
    ]);
    expect(rules[0].backendRefs[0].name).toBe('1');
    expect(rules[1].backendRefs).toEqual([
      { name: 'fw-users', port: 80, weight: 1_000_000 },
      { name: '1', port: 80, weight: 1_000_000 },
    ]);
  });

  test('sends requests with a header to another Service, independent of its weight', () => {
    const headers = { 'x-canary': 'always', 'x-team': '1' };
    const { rules } = routeTo([{ name: 'users-next', port: 8000, weight: 0, headers }]);

    expect(rules).toHaveLength(2);
    expect(rules[0]).toEqual({
      matches: pathMatches.map((match) => ({
        ...match,
        headers: [
          { name: 'x-canary', value: 'always' },
          { name: 'x-team', value: '1' },
        ],
      })),
      timeouts: { request: '30s' },
      backendRefs: [{ name: 'users-next', port: 8000 }],
    });
    expect(rules[1].matches).toEqual(pathMatches);
    expect(rules[1].backendRefs[1]).toEqual({ name: 'users-next', port: 8000, weight: 0 });
  });
});
