import { beforeAll, expect, test } from 'vitest';
import { SERVICES } from '../../../services/services.ts';

import { forDatabases, namesOf, podsOf, selected } from './platform.ts';
import { charts, only, type Rendered, type Values } from './render.ts';

let objects: Rendered[];
beforeAll(() => {
  objects = charts.render('platform');
});
const secretOf = (name: string): Record<string, string> => only(objects, 'Secret', name).stringData;

test('passwords are random and part of the address', () => {
  const again = charts.render('platform');

  for (const server of ['postgres', 'valkey']) {
    const { password, url } = secretOf(`fw-${server}`);
    expect(password).toMatch(/^[A-Za-z0-9]{40}$/);
    expect(new URL(url ?? '').password).toBe(password);
    expect(only(again, 'Secret', `fw-${server}`).stringData.password).not.toBe(password);
  }
  expect(secretOf('fw-tokens').secret).toMatch(/^[A-Za-z0-9]{40}$/);
});

test('no pod and no ConfigMap contains a password', () => {
  const passwords = ['fw-postgres', 'fw-valkey', 'fw-tokens'].flatMap((name) => {
    const { password, secret } = secretOf(name);
    return [password ?? secret];
  });
  const others = JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'));

  expect(passwords).toHaveLength(3);
  for (const password of passwords) expect(others).not.toContain(password);
});

test('the password of Valkey is not in the arguments of its process', () => {
  const [pods] = podsOf(objects).filter(({ name }) => name === 'fw-valkey');
  const command: string[] = pods?.spec.containers[0].command;
  const script = command.indexOf('-c') + 1;

  expect(command[script]).toContain('requirepass');
  expect(command.toSpliced(script, 1).join(' ')).not.toContain('PASSWORD');
  expect(command.join(' ')).not.toContain('$(');
});

test.each(['postgres', 'valkey'])(
  '%s reads an existing Secret instead of a generated one',
  (server) => {
    const existing = { existingSecret: { name: 'mine', key: 'url' } };
    const all = charts.render('platform', {
      postgres: { existingSecret: 'mine' },
      valkey: { existingSecret: 'mine' },
      ...forDatabases({ store: { postgres: existing } }),
      reports: { rateLimit: { redis: existing } },
    });
    const [pods] = podsOf(all).filter(({ name }) => name === `fw-${server}`);

    expect(namesOf(all, 'Secret')).not.toContain(`fw-${server}`);
    expect(JSON.stringify(pods?.spec)).toMatch(/"(secretName|name)":"mine"/);
  },
);

function callersOf(kind: string): string[] {
  const services = SERVICES.filter(({ store }) => store === kind);
  return services.map(({ name }) => `fw-${name}`).sort();
}

test('addresses of servers are the names of their Services', () => {
  const { data } = only(objects, 'ConfigMap', 'fw-reports');
  const urls = [
    secretOf('fw-postgres').url,
    secretOf('fw-valkey').url,
    data.USERS_URL,
    data.CATALOG_URL,
  ];
  const hosts = urls.map((url) => new URL(url).hostname);

  expect(hosts).toEqual(['fw-postgres', 'fw-valkey', 'fw-users', 'fw-catalog']);
  expect(namesOf(objects, 'Service')).toEqual(expect.arrayContaining(hosts));
});

test.each([
  { server: 'postgres', port: 5432, callers: callersOf('database') },
  { server: 'valkey', port: 6379, callers: callersOf('counters') },
])('the NetworkPolicy of $server allows $callers and no egress', ({ server, port, callers }) => {
  const { ingress, egress } = only(objects, 'NetworkPolicy', `fw-${server}`).spec;
  const found = ingress[0].from.flatMap(({ podSelector }: Rendered) =>
    selected(podsOf(objects), podSelector.matchLabels),
  );

  expect(egress).toEqual([]);
  expect(ingress[0].ports).toEqual([{ port }]);
  expect(found.map(({ name }: { name: string }) => name).sort()).toEqual(callers);
});

test.each([
  { server: 'postgres', client: { connections: 40 } },
  { server: 'valkey', client: {} },
])(
  'the NetworkPolicy of $server also allows the clients of other releases',
  ({ server, client }) => {
    const podSelector = { matchLabels: { 'app.kubernetes.io/instance': 'next' } };
    const namespaceSelector = { matchLabels: { stage: 'canary' } };
    const clients = [{ podSelector, namespaceSelector, ...client }];
    const all = charts.render('platform', { [server]: { clients } });

    const { ingress } = only(all, 'NetworkPolicy', `fw-${server}`).spec;

    expect(ingress[0].from.at(-1)).toEqual({ podSelector, namespaceSelector });
  },
);

test('PostgreSQL stores its data in a new claim, an existing claim or the pod', () => {
  const setOf = (storage: Values) =>
    only(charts.render('platform', { postgres: { storage } }), 'StatefulSet').spec;
  const volumeOf = (storage: Values) =>
    setOf(storage).template.spec.volumes.find(({ name }: { name: string }) => name === 'data');

  expect(setOf({ size: '5Gi', storageClass: 'fast' }).volumeClaimTemplates[0].spec).toEqual({
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'fast',
    resources: { requests: { storage: '5Gi' } },
  });
  expect(volumeOf({ existingClaim: 'mine' }).persistentVolumeClaim.claimName).toBe('mine');
  expect(volumeOf({ ephemeral: true }).emptyDir).toEqual({ sizeLimit: '1Gi' });
});

test('volumes of a pod fit in its ephemeral storage limit', () => {
  const bytes = (quantity: string) =>
    Number.parseInt(quantity, 10) * 1024 ** ['Ki', 'Mi', 'Gi'].indexOf(quantity.slice(-2)) * 1024;
  const ephemeral = charts.render('platform', { postgres: { storage: { ephemeral: true } } });

  for (const name of ['fw-edge', 'fw-postgres', 'fw-valkey']) {
    const [pods] = podsOf(ephemeral).filter((one) => one.name === name);
    const held = pods?.spec.volumes.map(({ emptyDir }: Rendered) =>
      bytes(emptyDir?.sizeLimit ?? '0Mi'),
    );
    const [{ resources }] = pods?.spec.containers ?? [];
    // The kubelet keeps 50 MiB of a container's log.
    const least = held.reduce((sum: number, one: number) => sum + one, bytes('50Mi'));
    expect(bytes(resources.limits['ephemeral-storage']), name).toBeGreaterThan(least);
  }
});

test.each(['postgres', 'valkey'])(
  '%s omits runAsUser on clusters that assign user ids',
  (server) => {
    const none = { runAsUser: null, runAsGroup: null, fsGroup: null };
    const all = charts.render('platform', { [server]: { podSecurityContext: none } });
    const [pods] = podsOf(all).filter(({ name }) => name === `fw-${server}`);

    expect(pods?.spec.securityContext).toMatchObject({ runAsNonRoot: true });
    for (const name of Object.keys(none)) {
      expect(pods?.spec.securityContext).not.toHaveProperty(name);
    }
  },
);

test.each(['postgres', 'valkey'])('%s renders without resources', (server) => {
  const all = charts.render('platform', { [server]: { resources: null } });
  const [pods] = podsOf(all).filter(({ name }) => name === `fw-${server}`);

  expect(pods?.spec.containers[0].resources ?? null).toBeNull();
});

const OWN_SECRET = { store: { postgres: { existingSecret: { name: 'mine' } } } };
const OWN_PODS = { podSelector: { matchLabels: { 'app.kubernetes.io/name': 'postgres' } } };
const NO_SECRET = { existingSecret: { name: '' } };

test.each<[string, Values]>([
  ['any address', { ...OWN_SECRET, networkPolicy: { databaseTo: [] } }],
  ['pods labelled postgres', { ...OWN_SECRET, networkPolicy: { databaseTo: [OWN_PODS] } }],
  ['no NetworkPolicy', { ...OWN_SECRET, networkPolicy: { enabled: false } }],
  [
    'the url of the bundled server',
    { store: { postgres: { ...NO_SECRET, url: 'postgres://u:p@fw-postgres:5432/users' } } },
  ],
])('users may have its own database next to the bundled PostgreSQL: %s', (_, users) => {
  const all = charts.render('platform', { users });

  expect(namesOf(all, 'Deployment')).toContain('fw-users');
});

test('settings of PostgreSQL are passed unchanged, integers as integers', () => {
  const settings = { max_connections: 1_000_000, max_wal_size: null, log_statement: 'all' };
  const { spec } = only(charts.render('platform', { postgres: { settings } }), 'StatefulSet');

  expect(spec.template.spec.containers[0].args).toEqual([
    ...['postgres', '-c', 'log_statement=all', '-c', 'max_connections=1000000'],
  ]);
});

test('a new chart version alone restarts no server', () => {
  const set = only(objects, 'StatefulSet', 'fw-postgres');
  const deployment = only(objects, 'Deployment', 'fw-valkey');

  for (const { spec } of [set, deployment]) {
    expect(JSON.stringify(spec.template)).not.toContain('helm.sh/chart');
  }
});
