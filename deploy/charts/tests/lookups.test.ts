import { execFile } from 'node:child_process';
import http from 'node:http';
import os from 'node:os';
import { promisify } from 'node:util';

import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ensureTool } from '../../../tools/programs.ts';
import { listenAnywhere } from '../../local/testing/ports.ts';
import { charts, only, type Rendered, readObjects, SHARED, type Values } from './render.ts';

/** The kinds of objects of the charts, by API group and version. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  v1: [
    'Secret',
    'ConfigMap',
    'Service',
    'ServiceAccount',
    'Namespace',
    'PersistentVolumeClaim',
    'Pod',
  ],
  'apps/v1': ['Deployment', 'StatefulSet'],
  'autoscaling/v2': ['HorizontalPodAutoscaler'],
  'networking.k8s.io/v1': ['NetworkPolicy'],
  'policy/v1': ['PodDisruptionBudget'],
  'gateway.networking.k8s.io/v1': ['HTTPRoute'],
};

/** The responses of an API server to discovery requests. */
const DISCOVERY: Readonly<Record<string, unknown>> = {
  '/version': { major: '1', minor: '36', gitVersion: 'v1.36.0' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': {
    kind: 'APIGroupList',
    groups: Object.keys(KINDS).flatMap((groupVersion) => {
      const [name, version] = groupVersion.split('/');
      return version ? [{ name, versions: [{ groupVersion, version }] }] : [];
    }),
  },
  ...Object.fromEntries(
    Object.entries(KINDS).map(([groupVersion, kinds]) => [
      `/${groupVersion.includes('/') ? 'apis' : 'api'}/${groupVersion}`,
      {
        kind: 'APIResourceList',
        groupVersion,
        resources: kinds.map((kind) => ({
          name: `${kind.toLowerCase()}s`,
          kind,
          namespaced: true,
          verbs: ['get'],
        })),
      },
    ]),
  ),
};

/** Renders a chart with `values` on a cluster that contains `objects`, by their paths. */
async function renderOn(
  objects: Readonly<Record<string, unknown>>,
  values: Values,
  chart = 'users',
): Promise<Rendered[]> {
  const server = http.createServer(({ url = '' }, response) => {
    const [path = ''] = url.split('?');
    const found = DISCOVERY[path] ?? objects[path];
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { kind: 'Status', code: 404, reason: 'NotFound' }));
  });
  const address = `http://127.0.0.1:${await listenAnywhere(server)}`;
  try {
    const helm = promisify(execFile)(
      ensureTool('helm'),
      [
        ...['template', 'fw', chart, '--namespace', 'trial', '--values', '-'],
        ...['--is-upgrade', '--dry-run=server', '--disable-openapi-validation'],
        ...['--kube-apiserver', address],
      ],
      { cwd: charts.folder, env: { PATH: process.env.PATH, HOME: os.tmpdir() } },
    );
    helm.child.stdin?.end(stringify(values));
    return readObjects((await helm).stdout);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

describe('the number of pods with an autoscaler', () => {
  const values = { ...SHARED.users, autoscaling: { enabled: true } };
  const running = (...subresources: readonly string[]) => ({
    '/apis/apps/v1/namespaces/trial/deployments/fw-users': {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'fw-users',
        managedFields: [
          { manager: 'helm' },
          ...subresources.map((subresource) => ({ manager: 'somebody', subresource })),
        ],
      },
      spec: { replicas: 5 },
    },
  });
  const replicasOn = async (objects: Readonly<Record<string, unknown>>) =>
    only(await renderOn(objects, values), 'Deployment').spec.replicas;

  test('stays unchanged for running pods until the autoscaler sets it', async () => {
    expect(await replicasOn(running('status'))).toBe(5);
  });

  test('is omitted after the autoscaler has set it, and at the first installation', async () => {
    expect(await replicasOn(running('status', 'scale'))).toBeUndefined();
    expect(await replicasOn({})).toBeUndefined();
  });
});

test('a changed value or certificate in an existing Secret rolls the pods', async () => {
  const postgres = { existingSecret: { name: 'db' }, caSecret: { name: 'db' } };
  const checksumOf = async (data: Values) => {
    const path = '/api/v1/namespaces/trial/secrets/db';
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' }, data };
    const objects = await renderOn({ [path]: secret }, { store: { type: 'postgres', postgres } });
    return only(objects, 'Deployment').spec.template.metadata.annotations['checksum/secrets'];
  };

  const checksum = await checksumOf({ url: 'b25l', 'ca.crt': 'b25l' });

  expect(await checksumOf({ url: 'b25l', 'ca.crt': 'b25l' })).toBe(checksum);
  expect(await checksumOf({ url: 'dHdv', 'ca.crt': 'b25l' })).not.toBe(checksum);
  expect(await checksumOf({ url: 'b25l', 'ca.crt': 'dHdv' })).not.toBe(checksum);
});

test('a Secret without the key of the certificate is rejected', async () => {
  const data = { 'tls.crt': 'YQ==', key: 'YQ==' };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'edge-tls' }, data };
  const path = '/api/v1/namespaces/trial/secrets/edge-tls';
  const values = { edge: { tls: { secretName: 'edge-tls' } } };

  await expect(renderOn({ [path]: secret }, values, 'platform')).rejects.toThrow(
    'edge.tls.secretName is edge-tls, but that Secret has no tls.key',
  );
});
