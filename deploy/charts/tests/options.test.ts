import { afterAll, describe, expect, test } from 'vitest';

import { only, packCharts, type Rendered, SHARED, type Values } from './render.ts';

const charts = packCharts();
afterAll(() => charts[Symbol.dispose]());

/** The objects of users with `values` beside what several pods need. */
const renderUsers = (values: Values = {}) => charts.render('users', { ...SHARED.users, ...values });
const renderReports = (values: Values = {}) =>
  charts.render('reports', { ...SHARED.reports, ...values });

const podOf = (objects: readonly Rendered[]) => only(objects, 'Deployment').spec.template.spec;
const annotationsOf = (objects: readonly Rendered[]) =>
  only(objects, 'Deployment').spec.template.metadata.annotations;

describe('names', () => {
  const nameOf = (release: string) => {
    const { stdout } = charts.helm([
      'template',
      release,
      'users',
      '--show-only',
      'templates/all.yaml',
    ]);
    return /kind: Service\nmetadata:\n {2}name: (.+)/.exec(stdout)?.[1];
  };

  test.each([
    ['fw', 'fw-users'],
    ['users', 'users'],
    ['my-users', 'my-users'],
    ['a'.repeat(53), 'a'.repeat(52)],
  ])('release %s', (release, name) => {
    expect(nameOf(release)).toBe(name);
  });

  test('an image is its registry, repository, tag and digest', () => {
    const digest = `sha256:${'ab'.repeat(32)}`;
    const imageOf = (image: Values) => podOf(renderUsers({ image })).containers[0].image;

    expect(imageOf({})).toBe('fw-users:0.1.0');
    expect(imageOf({ repository: 'local/fw-users', tag: 'dev' })).toBe('local/fw-users:dev');
    expect(imageOf({ registry: 'registry.example.org:5000', digest })).toBe(
      `registry.example.org:5000/fw-users:0.1.0@${digest}`,
    );
  });

  test('what a platform says to all of its charts wins', () => {
    const objects = renderUsers({
      image: { tag: 'own' },
      imagePullSecrets: [{ name: 'own' }],
      global: {
        image: { registry: 'registry.example.org', tag: 'all', pullPolicy: 'Always' },
        imagePullSecrets: [{ name: 'shared' }],
      },
    });

    expect(podOf(objects).containers[0].image).toBe('registry.example.org/fw-users:all');
    expect(podOf(objects).containers[0].imagePullPolicy).toBe('Always');
    expect(podOf(objects).imagePullSecrets).toEqual([{ name: 'shared' }, { name: 'own' }]);
  });
});

describe('the time to end', () => {
  const graceOf = (values: Values) => podOf(renderUsers(values)).terminationGracePeriodSeconds;

  test('is preStop, the drain delay, idle connections, the longest request and four seconds', () => {
    expect(graceOf({})).toBe(5 + 1 + 5 + 20 + 4);
    expect(graceOf({ config: { REQUEST_TIMEOUT_MS: 60_500, DRAIN_DELAY_MS: 250 } })).toBe(
      5 + Math.ceil(5 + 60.75) + 4,
    );
    expect(graceOf({ preStopSleepSeconds: 15 })).toBe(15 + 1 + 5 + 20 + 4);
    expect(graceOf({ terminationGracePeriodSeconds: 90 })).toBe(90);
  });

  test('a request counts for as long as its body may take, too', () => {
    expect(graceOf({ config: { REQUEST_TIMEOUT_MS: 1_000, BODY_TIMEOUT_MS: 40_000 } })).toBe(
      5 + 1 + 5 + 40 + 4,
    );
  });

  test('without preStop there is no hook', () => {
    const [container] = podOf(renderUsers({ preStopSleepSeconds: 0 })).containers;

    expect(container).not.toHaveProperty('lifecycle');
  });
});

describe('the store', () => {
  test('sqlite is one pod and its volume, which stays when the chart goes', () => {
    const objects = charts.render('catalog');
    const claim = only(objects, 'PersistentVolumeClaim');

    expect(claim.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    expect(claim.spec).not.toHaveProperty('storageClassName');
    expect(only(objects, 'Deployment').spec).toMatchObject({
      replicas: 1,
      strategy: { type: 'Recreate' },
    });
    expect(only(objects, 'ConfigMap').data.DATABASE_FILE).toBe('/data/catalog.db');
    expect(podOf(objects).securityContext.fsGroup).toBe(65_532);
    const [migrate] = podOf(objects).initContainers;
    expect(migrate.volumeMounts).toEqual([{ name: 'data', mountPath: '/data' }]);
  });

  test.each([
    [{ existingClaim: 'old' }, { persistentVolumeClaim: { claimName: 'old' } }],
    [{ ephemeral: true, size: '2Gi' }, { emptyDir: { sizeLimit: '2Gi' } }],
  ])('sqlite with %o claims nothing', (sqlite, volume) => {
    const objects = charts.render('users', { store: { sqlite } });

    expect(objects.filter(({ kind }) => kind === 'PersistentVolumeClaim')).toEqual([]);
    expect(podOf(objects).volumes).toEqual([{ name: 'data', ...volume }]);
  });

  test('a cluster that chooses groups itself is left to', () => {
    const objects = charts.render('users', { store: { sqlite: { fsGroup: 0 } } });

    expect(podOf(objects).securityContext).not.toHaveProperty('fsGroup');
  });

  test('postgres is read from a file, in the migrations too, and stands in no environment', () => {
    const objects = renderUsers();
    const pod = podOf(objects);

    expect(only(objects, 'Secret').stringData).toEqual({
      DATABASE_URL: 'postgres://u:p@db:5433/users',
    });
    for (const { env, volumeMounts } of [...pod.initContainers, ...pod.containers]) {
      expect(env).toEqual([{ name: 'DATABASE_URL_FILE', value: '/run/secrets/fw/DATABASE_URL' }]);
      expect(volumeMounts).toEqual([
        { name: 'secrets', mountPath: '/run/secrets/fw', readOnly: true },
      ]);
    }
    expect(JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'))).not.toContain('u:p@db');
  });

  test('the address may stand in a Secret of somebody else, whose name may be a template', () => {
    const objects = charts.render('users', {
      store: {
        type: 'postgres',
        postgres: { existingSecret: { name: '{{ .Release.Name }}-db', key: 'uri' } },
      },
    });

    expect(objects.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    expect(podOf(objects).volumes[0].projected.sources).toEqual([
      { secret: { name: 'fw-db', items: [{ key: 'uri', path: 'DATABASE_URL' }] } },
    ]);
  });
});

describe('where pods stand', () => {
  const placement = {
    nodeSelector: { 'kubernetes.io/arch': 'arm64' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  };

  test('is spread over nodes and zones, each as its value says; old pods and drained nodes do not count', () => {
    const spread = podOf(renderUsers()).topologySpreadConstraints as Rendered[];

    expect(spread.map((one) => [one.topologyKey, one.whenUnsatisfiable])).toEqual([
      ['kubernetes.io/hostname', 'ScheduleAnyway'],
      ['topology.kubernetes.io/zone', 'ScheduleAnyway'],
    ]);
    for (const one of spread) {
      expect(one).toMatchObject({
        nodeTaintsPolicy: 'Honor',
        matchLabelKeys: ['pod-template-hash'],
      });
    }
  });

  test('the test stands where the service may: on nodes of its kind, however they are tainted', () => {
    const objects = renderUsers(placement);

    expect(only(objects, 'Pod').spec).toMatchObject(placement);
    expect(podOf(objects).nodeSelector).toEqual(placement.nodeSelector);
    expect(podOf(objects).tolerations).toContainEqual(placement.tolerations[0]);
  });
});

test('a security context of values joins what "restricted" asks for, and undoes none of it', () => {
  const objects = charts.render('users', {
    podSecurityContext: { runAsNonRoot: false, runAsUser: 1_000, fsGroup: 2_000 },
  });

  expect(podOf(objects).securityContext).toEqual({
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
    runAsUser: 1_000,
    fsGroup: 2_000,
    fsGroupChangePolicy: 'OnRootMismatch',
  });
});

describe('what rolls the pods', () => {
  const before = annotationsOf(renderReports());

  test.each([
    ['a variable', { config: { LOG_LEVEL: 'debug' } }, 'checksum/config'],
    ['a secret', { jwt: { secret: 'another secret, thirty-two of them' } }, 'checksum/secrets'],
    ['an annotation', { podAnnotations: { restarted: 'today' } }, 'restarted'],
  ])('%s', (_, values, annotation) => {
    const after = annotationsOf(renderReports(values));

    expect(after[annotation]).not.toBe(before[annotation]);
    expect(after).not.toEqual(before);
  });

  test('nothing, when nothing changes, nor what pods do not read', () => {
    expect(
      annotationsOf(renderReports({ ingress: { enabled: true, hosts: [{ host: 'a.example' }] } })),
    ).toEqual(before);
  });
});

describe('configuration', () => {
  test('a large number stays a whole one', () => {
    const { data } = only(renderUsers({ config: { BODY_LIMIT: 10_485_760 } }), 'ConfigMap');

    expect(data.BODY_LIMIT).toBe('10485760');
  });

  test('reports calls the services of its release, unless told of others', () => {
    const { data } = only(renderReports(), 'ConfigMap');
    const told = only(
      renderReports({ upstreams: { users: 'http://users.{{ .Release.Namespace }}.svc' } }),
      'ConfigMap',
    ).data;

    expect(data).toMatchObject({ USERS_URL: 'http://fw-users', CATALOG_URL: 'http://fw-catalog' });
    expect(told.USERS_URL).toBe('http://users.trial.svc');
  });

  test('keys at an address need no secret', () => {
    const objects = charts.render('reports', { jwt: { jwksUrl: 'https://keys.example.org/jwks' } });

    expect(only(objects, 'ConfigMap').data).toMatchObject({
      JWT_JWKS_URL: 'https://keys.example.org/jwks',
      JWT_ALGORITHM: 'RS256',
    });
    expect(objects.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    expect(only(objects, 'Pod').spec).not.toHaveProperty('volumes');
  });
});

describe('the NetworkPolicies', () => {
  const policyOf = (objects: readonly Rendered[], name = 'fw-users') =>
    only(objects, 'NetworkPolicy', name).spec;
  const DNS = [53, 5353].flatMap((port) => [
    { port, protocol: 'UDP' },
    { port, protocol: 'TCP' },
  ]);

  test('deny everything first, both ways', () => {
    const { policyTypes, ...rest } = policyOf(renderUsers(), 'fw-users-deny');

    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    expect(Object.keys(rest)).toEqual(['podSelector']);
  });

  test('let in those who are labelled, and monitoring at the health port; out to DNS and the database', () => {
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

  test('know the database by its pods, and its port by a value, where a Secret has the address', () => {
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

  test('nothing of a store with sqlite but DNS', () => {
    expect(policyOf(charts.render('users')).egress).toHaveLength(1);
  });

  test('let reports out to what it calls, and into that by its labels', () => {
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

  test('let reports out to a service elsewhere by the port of its address and by that of its pods', () => {
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

  test('let an ingress controller in by its namespace, and peers of values', () => {
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

  test('let the test out to its service alone', () => {
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

describe('an Ingress', () => {
  const ingressOf = (ingress: Values, more: Values = {}) =>
    only(
      renderUsers({
        ingress: { enabled: true, hosts: [{ host: 'api.example.org' }], ...ingress },
        ...more,
      }),
      'Ingress',
    );

  test('leads whole segments to the service, and rewrites nothing', () => {
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

  test('of f5-nginx is a minion, and carries nothing that a minion may not', () => {
    const { metadata, spec } = ingressOf({});

    expect(metadata.annotations).toEqual({
      'nginx.org/client-max-body-size': '1048576',
      'nginx.org/mergeable-ingress-type': 'minion',
      'nginx.org/proxy-read-timeout': '30s',
      'nginx.org/proxy-send-timeout': '30s',
    });
    expect(spec.ingressClassName).toBe('nginx');
    expect(spec).not.toHaveProperty('tls');
  });

  test('of f5-nginx has the host to itself where it is not mergeable', () => {
    const { metadata, spec } = ingressOf({
      mergeable: false,
      tls: [{ secretName: 'certificate', hosts: ['api.example.org'] }],
    });

    expect(metadata.annotations).not.toHaveProperty('nginx.org/mergeable-ingress-type');
    expect(spec.tls).toEqual([{ hosts: ['api.example.org'], secretName: 'certificate' }]);
  });

  test('of ingress-nginx has bare seconds, and waits longer than the service does', () => {
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

  test('of no controller is plain', () => {
    const { metadata, spec } = ingressOf({ controller: 'none', controllerNamespace: 'traefik' });

    expect(metadata).not.toHaveProperty('annotations');
    expect(spec).not.toHaveProperty('ingressClassName');
  });
});

test('an HTTPRoute gives other Services their share of the traffic', () => {
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

describe('the autoscaler', () => {
  const specOf = (autoscaling: Values) =>
    only(renderUsers({ autoscaling: { enabled: true, ...autoscaling } }), 'HorizontalPodAutoscaler')
      .spec;

  test('goes by the processor, grows at once and shrinks slowly', () => {
    const spec = specOf({});

    expect(spec).toMatchObject({
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'fw-users' },
      minReplicas: 2,
      maxReplicas: 6,
      behavior: { scaleUp: { stabilizationWindowSeconds: 0 }, scaleDown: {} },
    });
    expect(spec.metrics.map(({ type }: Rendered) => type)).toEqual(['Resource']);
  });

  test('has a budget for the pods that it may make, even where it begins with one', () => {
    const budgetOf = (minReplicas: number, maxReplicas: number) =>
      renderUsers({ autoscaling: { enabled: true, minReplicas, maxReplicas } }).filter(
        ({ kind }) => kind === 'PodDisruptionBudget',
      );

    expect(budgetOf(1, 4).map(({ spec }) => spec.maxUnavailable)).toEqual([1]);
    expect(budgetOf(1, 1)).toEqual([]);
  });

  test('goes by requests too where a value says how many', () => {
    expect(specOf({ requestsPerSecond: 200 }).metrics[1]).toEqual({
      type: 'Pods',
      pods: {
        metric: { name: 'http_requests_per_second' },
        target: { type: 'AverageValue', averageValue: '200' },
      },
    });
  });
});
