import { beforeAll, describe, expect, test } from 'vitest';

import { charts, only, type Rendered, SHARED, type Values } from './render.ts';

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

  test('an image reference consists of registry, repository, tag and digest', () => {
    const digest = `sha256:${'ab'.repeat(32)}`;
    const imageOf = (image: Values) => podOf(renderUsers({ image })).containers[0].image;

    expect(imageOf({})).toBe('fw-users:0.1.0');
    expect(imageOf({ repository: 'local/fw-users', tag: 'dev' })).toBe('local/fw-users:dev');
    expect(imageOf({ registry: 'registry.example.org:5000', digest })).toBe(
      `registry.example.org:5000/fw-users:0.1.0@${digest}`,
    );
  });

  test('global.image overrides the image of a chart', () => {
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

describe('the grace period', () => {
  const graceOf = (values: Values) => podOf(renderUsers(values)).terminationGracePeriodSeconds;

  test('is the sum of preStop, drain delay, idle connections, the longest request and 4 s', () => {
    expect(graceOf({})).toBe(5 + 1 + 5 + 20 + 4);
    expect(graceOf({ config: { REQUEST_TIMEOUT_MS: 60_500, DRAIN_DELAY_MS: 250 } })).toBe(
      5 + Math.ceil(5 + 60.75) + 4,
    );
    expect(graceOf({ preStopSleepSeconds: 15 })).toBe(15 + 1 + 5 + 20 + 4);
    expect(graceOf({ terminationGracePeriodSeconds: 90 })).toBe(90);
  });

  test('includes the time-out of bodies', () => {
    expect(graceOf({ config: { REQUEST_TIMEOUT_MS: 1_000, BODY_TIMEOUT_MS: 40_000 } })).toBe(
      5 + 1 + 5 + 40 + 4,
    );
  });

  test('has no preStop hook if preStopSleepSeconds is 0', () => {
    const [container] = podOf(renderUsers({ preStopSleepSeconds: 0 })).containers;

    expect(container).not.toHaveProperty('lifecycle');
  });
});

describe('placement', () => {
  const placement = {
    nodeSelector: { 'kubernetes.io/arch': 'arm64' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  };

  test('spreads pods over nodes and zones, without old pods and drained nodes', () => {
    const spread = podOf(renderUsers()).topologySpreadConstraints as Rendered[];

    expect(spread.map((one) => [one.topologyKey, one.whenUnsatisfiable])).toEqual([
      ['kubernetes.io/hostname', 'ScheduleAnyway'],
      ['topology.kubernetes.io/zone', 'ScheduleAnyway'],
    ]);
    for (const one of spread) {
      expect(one).toMatchObject({
        nodeTaintsPolicy: 'Honor',
        matchLabelKeys: ['pod-template-hash', 'rollouts-pod-template-hash'],
      });
    }
  });

  test('applies to helm test too', () => {
    const objects = renderUsers(placement);

    expect(only(objects, 'Pod').spec).toMatchObject(placement);
    expect(podOf(objects).nodeSelector).toEqual(placement.nodeSelector);
    expect(podOf(objects).tolerations).toContainEqual(placement.tolerations[0]);
  });
});

test('podSecurityContext adds settings and cannot weaken Pod Security "restricted"', () => {
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

describe('pods roll after a change of', () => {
  let before: Rendered;
  beforeAll(() => {
    before = annotationsOf(renderReports());
  });

  test.each([
    ['a variable', { config: { LOG_LEVEL: 'debug' } }, 'checksum/config'],
    ['a secret', { jwt: { secret: 'another secret, thirty-two of them' } }, 'checksum/secrets'],
    ['an annotation', { podAnnotations: { restarted: 'today' } }, 'restarted'],
  ])('%s', (_, values, annotation) => {
    const after = annotationsOf(renderReports(values));

    expect(after[annotation]).not.toBe(before[annotation]);
    expect(after).not.toEqual(before);
  });

  test('nothing else, such as the ingress', () => {
    expect(
      annotationsOf(renderReports({ ingress: { enabled: true, hosts: [{ host: 'a.example' }] } })),
    ).toEqual(before);
  });
});

describe('configuration', () => {
  test('large numbers are written without an exponent', () => {
    const { data } = only(renderUsers({ config: { BODY_LIMIT: 10_485_760 } }), 'ConfigMap');

    expect(data.BODY_LIMIT).toBe('10485760');
  });

  test('reports calls the services of its release by default', () => {
    const { data } = only(renderReports(), 'ConfigMap');
    const configured = only(
      renderReports({ upstreams: { users: 'http://users.{{ .Release.Namespace }}.svc' } }),
      'ConfigMap',
    ).data;

    expect(data).toMatchObject({ USERS_URL: 'http://fw-users', CATALOG_URL: 'http://fw-catalog' });
    expect(configured.USERS_URL).toBe('http://users.trial.svc');
  });

  test('public keys need no Secret', () => {
    const objects = charts.render('reports', { jwt: { jwksUrl: 'https://keys.example.org/jwks' } });

    expect(only(objects, 'ConfigMap').data).toMatchObject({
      JWT_JWKS_URL: 'https://keys.example.org/jwks',
      JWT_ALGORITHM: 'RS256',
    });
    expect(objects.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    expect(only(objects, 'Pod').spec).not.toHaveProperty('volumes');
  });
});

describe('the autoscaler', () => {
  const specOf = (autoscaling: Values) =>
    only(renderUsers({ autoscaling: { enabled: true, ...autoscaling } }), 'HorizontalPodAutoscaler')
      .spec;

  test('scales by CPU use, up at once and down slowly', () => {
    const spec = specOf({});

    expect(spec).toMatchObject({
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'fw-users' },
      minReplicas: 2,
      maxReplicas: 6,
      behavior: { scaleUp: { stabilizationWindowSeconds: 0 }, scaleDown: {} },
    });
    expect(spec.metrics.map(({ type }: Rendered) => type)).toEqual(['Resource']);
  });

  test('has a disruption budget if it can create several pods', () => {
    const budgetOf = (minReplicas: number, maxReplicas: number) =>
      renderUsers({ autoscaling: { enabled: true, minReplicas, maxReplicas } }).filter(
        ({ kind }) => kind === 'PodDisruptionBudget',
      );

    expect(budgetOf(1, 4).map(({ spec }) => spec.maxUnavailable)).toEqual([1]);
    expect(budgetOf(1, 1)).toEqual([]);
  });

  test('scales by requests per second if a value is set', () => {
    expect(specOf({ requestsPerSecond: 200 }).metrics[1]).toEqual({
      type: 'Pods',
      pods: {
        metric: { name: 'http_requests_per_second' },
        target: { type: 'AverageValue', averageValue: '200' },
      },
    });
  });
});
