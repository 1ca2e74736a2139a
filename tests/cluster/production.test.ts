import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import path from 'node:path';

import { test } from 'vitest';
import { REQUESTS_PER_SECOND } from '../../deploy/charts/tests/values.ts';
import { runLoad } from '../../deploy/k6/run.ts';
import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { serviceImage } from '../../deploy/local/cluster/images.ts';
import { folders } from '../../deploy/local/state.ts';
import { SERVICE_NAMES, SERVICES } from '../../services/services.ts';
import { ensureMonitoringKinds } from './monitoring.ts';
import { forAllServices, NAME, QUIET } from './platform.ts';
import { waitForReplicas } from './pods.ts';
import { merge } from './values.ts';
import { nodeImage } from './volumes.ts';
import { createNamespace, createWorld, newName, removeNamespace } from './world.ts';

// The values for production, with PostgreSQL, Valkey and an identity provider in another namespace.
const world = createWorld('production', ({ settings }) => {
  const { gateway, controller, controllerAddress } = settings;
  if (gateway && controller && controllerAddress) return undefined;
  return 'GATEWAY, CONTROLLER and CONTROLLER_ADDRESS must be set: see tests/cluster/README.md';
});
const { cluster, namespace, settings, log, onCleanUp } = world;
const { controller, controllerAddress: base = 'http://unknown' } = settings;
const chart = path.join(folders.root, 'deploy/charts/platform');

const servers = newName('servers');
const password = randomBytes(16).toString('hex');
const NAME_LABEL = 'kubernetes.io/metadata.name';
const ISSUER = 'https://login.example.org';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256' }] };

const allOf = (name: string | undefined) => [
  { namespaceSelector: { matchLabels: { [NAME_LABEL]: name } } },
];
const to = allOf(servers);
const tokens = { JWT_JWKS_URL: `http://login.${servers}:8080/keys`, JWT_ISSUER: ISSUER };
/** The services that refuse requests without a token. */
const PROTECTED: readonly string[] = ['users', 'reports'];
/** The CPU request of the values for production is too large for nine pods on the nodes of a test. */
const SMALL = forAllServices({
  image: serviceImage(settings),
  resources: { requests: { cpu: '100m' } },
});
/**
 * What a second file of values contains: the names and addresses of this cluster. Without prometheus-adapter, the number
 * of pods only grows; the API server checks the metric.
 */
const values = merge(QUIET, SMALL, REQUESTS_PER_SECOND, {
  global: {
    httpRoute: { parentRefs: [settings.gateway], hostnames: [new URL(base).hostname] },
    networkPolicy: { from: allOf(controller?.namespace) },
  },
  users: {
    config: tokens,
    networkPolicy: { egress: { database: { to }, jwks: { to, ports: [8080] } } },
  },
  catalog: { networkPolicy: { egress: { database: { to } } } },
  reports: {
    config: tokens,
    networkPolicy: { egress: { counters: { to }, jwks: { to, ports: [8080] } } },
  },
});

/** A Deployment with one pod and its Service. */
function server(name: string, port: number, container: object): object[] {
  const metadata = { name, namespace: servers };
  const template = {
    metadata: { labels: { name } },
    spec: { containers: [{ name, imagePullPolicy: 'IfNotPresent', ...container }] },
  };
  return [
    {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata },
      spec: { selector: { matchLabels: { name } }, template },
    },
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata },
      spec: { selector: { name }, ports: [{ port }] },
    },
  ];
}

function secret(name: string, url: string): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData: { url } };
}

/** A token of the identity provider. */
function issueToken(): string {
  const exp = Math.floor(Date.now() / 1000) + 600;
  const claims = { iss: ISSUER, aud: [...SERVICE_NAMES], sub: newName('user'), tier: 'pro', exp };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${encode({ alg: 'RS256', kid: '1' })}.${encode(claims)}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
}

test('helm template | kubectl apply installs the values for production; a second time nothing changes', async () => {
  onCleanUp((current) => removeNamespace(current, servers));
  await createNamespace(cluster, servers, 'privileged');
  await ensureMonitoringKinds(world);
  const { postgres = 'postgres:17.10-bookworm', valkey = 'valkey/valkey:8.1.10' } = settings.images;
  const script = `require('node:http').createServer((_, response) => response.end(process.env.KEYS)).listen(8080)`;
  const database = `postgres://fw:${password}@postgres.${servers}:5432/fw`;
  log('installing PostgreSQL, Valkey and the identity provider');
  await cluster.apply(
    ...server('postgres', 5432, {
      image: postgres,
      env: [
        { name: 'POSTGRES_USER', value: 'fw' },
        { name: 'POSTGRES_PASSWORD', value: password },
      ],
    }),
    ...server('valkey', 6379, {
      image: valkey,
      command: ['valkey-server', '--requirepass', password],
    }),
    ...server('login', 8080, {
      image: nodeImage(settings),
      command: ['node', '--eval', script],
      env: [{ name: 'KEYS', value: JSON.stringify(keys) }],
    }),
    secret('users-database', database),
    secret('catalog-database', database),
    secret('reports-counts', `redis://:${password}@valkey.${servers}:6379`),
  );
  const files = ['--values', path.join(chart, 'values-production.yaml'), '--values', '-'];
  const args = ['template', NAME, chart, '--namespace', namespace, '--skip-tests', ...files];
  const kubectl = async (...command: readonly string[]) => {
    const manifest = await cluster.helm(args, JSON.stringify(values));
    return cluster.kubectl([...command, '--namespace', namespace, '--filename=-'], manifest);
  };

  log('installing the platform');
  await kubectl('apply');
  for (const part of SERVICE_NAMES) {
    await waitForReplicas(world, { part, count: 3, seconds: 120 });
  }

  // The output of a second apply would name objects with defaults of the API server as configured.
  log('comparing');
  assert.equal(await kubectl('diff'), '');
});

test('the Gateway serves every service under load, with tokens of the identity provider', async () => {
  const headers = { authorization: `Bearer ${issueToken()}` };
  await waitFor({ cluster, what: 'responses through the Gateway', seconds: 60 }, async () => {
    for (const { name, versions } of SERVICES) {
      const response = await fetch(`${base}/api/${versions.at(-1)}/${name}`, { headers });
      assert.equal(response.status, 200, await response.text());
      if (!PROTECTED.includes(name)) continue;
      assert.equal((await fetch(response.url)).status, 401);
    }
    return true;
  });

  const { requests, failed, stream } = await runLoad({
    profile: 'rollout',
    base,
    env: { ...process.env, TOKEN: issueToken(), RATE: '50', DURATION: '20s' },
    out: path.join(folders.root, '.local/e2e/load'),
    print: () => {},
    until: cluster.signal,
  });

  log(`${failed} of ${requests} requests failed, ${stream.created} users were created`);
  assert.ok(requests > 500, `only ${requests} requests were sent`);
  assert.deepEqual({ failed, lost: stream.lost }, { failed: 0, lost: 0 });
});
