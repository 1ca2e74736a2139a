import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';
import { SERVICE_NAMES } from '../../../services/services.ts';
import { foldersOf } from '../state.ts';
import { fakePrograms } from '../testing/fake-programs.ts';
import { freePortsFrom } from '../testing/ports.ts';
import { issueToken } from '../token.ts';
import { nodeImageOf } from './kind-images.ts';
import { createClusterLaunch } from './launch.ts';
import { readCluster, writeCluster } from './record.ts';
import { removeFromCluster } from './remove.ts';

const SECRET = 'a secret of thirty-two characters';
const PART = {
  metadata: { name: 'platform-users', generation: 1 },
  spec: { replicas: 2 },
  status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2 },
};
const POD = {
  metadata: { name: 'platform-users-1' },
  spec: {},
  status: { phase: 'Pending' },
};
const EVENT = {
  involvedObject: { kind: 'Pod', name: 'platform-users-1' },
  type: 'Warning',
  reason: 'FailedScheduling',
  message: '0/1 nodes are available: 1 Insufficient memory',
};

/** kubectl with a successful response to each call; cases in front of it take precedence. */
const KUBECTL = `
*current-context) echo a-context;;
*can-i*) echo yes;;
*"get --output=json storageclasses") echo '{"items":[]}';;
*"get --output=json deployments,statefulsets"*) echo '${JSON.stringify({ items: [PART] })}';;
*"get --output=json secret"*) echo '{"data":{"secret":"${Buffer.from(SECRET).toString('base64')}"}}';;
*"get --output=json pods"*) echo '${JSON.stringify({ items: [POD] })}';;
*"get --output=json events"*) echo '${JSON.stringify({ items: [EVENT] })}';;
*port-forward*) exec /bin/sleep 60;;
`;
const HELM = 'status*) echo "Error: release: not found" >&2; exit 1;;';
const PROGRAMS = {
  docker: `
"image inspect fw-users:dev") exit 1;;
"image inspect --format"*) echo the layers;;`,
  kind: '',
  kubectl: KUBECTL,
  helm: HELM,
};

/** A temporary checkout, where building the images takes no time. */
async function newCheckout() {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'cluster-launch-'));
  onTestFinished(() => fs.rmSync(root, { recursive: true }));
  fs.mkdirSync(path.join(root, 'deploy/images'), { recursive: true });
  fs.writeFileSync(path.join(root, 'deploy/images/build.ts'), '');
  return { folders: foldersOf(root), port: await freePortsFrom([0]) };
}

/** Responds like the edge as soon as the images are on the cluster. */
function respondAfterLoading(port: number, lines: string[]) {
  return (line: string): void => {
    lines.push(line);
    if (!line.startsWith('Loading')) return;
    const server = http.createServer((_, response) => response.end('the page')).listen(port);
    onTestFinished(() => void server.close());
  };
}

test('on kind: creates a cluster with the port of the edge, loads the images and installs the charts; make down deletes it and the images that did not exist before', async () => {
  using programs = fakePrograms(PROGRAMS);
  const { folders, port } = await newCheckout();
  const { run } = folders;
  const lines: string[] = [];
  const log = respondAfterLoading(port, lines);
  const env = { PATH: process.env.PATH, IMAGE_PREFIX: 'not.for.kind/', POSTGRES_IMAGE: '' };

  await createClusterLaunch({ folders, port, backend: 'kind', env, log }).up();

  const name = `fw-${port}`;
  const ofKind = programs.calls().filter((call) => call.startsWith('kind '));
  expect(ofKind).toEqual([
    'kind get clusters',
    `kind create cluster --name ${name} --kubeconfig ${run}/kubeconfig --config - --wait 180s`,
    `kind load docker-image ${SERVICE_NAMES.map((one) => `fw-${one}:dev`).join(' ')} --name ${name}`,
  ]);
  const mapping = { containerPort: 30_080, hostPort: port, listenAddress: '127.0.0.1' };
  expect(JSON.parse(programs.input('kind')).nodes).toEqual([
    { role: 'control-plane', image: nodeImageOf({}), extraPortMappings: [mapping] },
  ]);
  expect(JSON.parse(programs.input('helm'))).toMatchObject({
    edge: { service: { type: 'NodePort', nodePort: 30_080 } },
    users: {
      image: { registry: '', tag: 'dev' },
      podAnnotations: { 'fw/image': expect.stringMatching(/^[0-9a-f]{12}$/) },
      resources: { requests: { cpu: '20m' } },
    },
  });
  expect(lines.at(-1)).toBe('Already running: nothing has changed');
  expect(issueToken({ secret: SECRET, user: 'ada', tier: 'free' })).toContain('.');
  expect(fs.readFileSync(path.join(run, 'jwt-secret'), 'utf8')).toBe(`${SECRET}\n`);

  const record = readCluster(run);
  expect(record).toMatchObject({ backend: 'kind', address: `http://localhost:${port}` });
  if (record) await removeFromCluster({ run, record, clean: false });

  expect(programs.calls().slice(-2)).toEqual([
    `kind delete cluster --name ${name} --kubeconfig ${run}/kubeconfig`,
    'docker image rm fw-users:dev',
  ]);
});

test('on kind: a failed start is undone', async () => {
  const kind =
    '"create cluster"*) echo "ERROR: failed to create cluster: no space left" >&2; exit 1;;';
  using programs = fakePrograms({ ...PROGRAMS, kind });
  const { folders, port } = await newCheckout();
  const launch = createClusterLaunch({ folders, port, backend: 'kind', env: {}, log: () => {} });

  await expect(launch.up()).rejects.toThrow('failed to create cluster: no space left');
  await launch.undo();

  expect(programs.calls().at(-2)).toMatch(/^kind delete cluster --name fw-/);
  expect(fs.existsSync(folders.run)).toBe(false);
});

test('on kind: an existing cluster of another owner is not changed', async () => {
  const { folders, port } = await newCheckout();
  using programs = fakePrograms({ ...PROGRAMS, kind: `"get clusters") echo fw-${port};;` });
  const launch = createClusterLaunch({ folders, port, backend: 'kind', env: {}, log: () => {} });

  await expect(launch.up()).rejects.toThrow(
    `"make up" did not create the existing kind cluster fw-${port}`,
  );
  await launch.undo();

  expect(programs.calls().filter((call) => call.startsWith('kind'))).toEqual(['kind get clusters']);
});

test('on kind: an image that cannot be pulled is reported before anything is created', async () => {
  const docker =
    '"image inspect"*) exit 1;; pull*) echo "manifest for local/x:1 not found" >&2; exit 1;;';
  using programs = fakePrograms({ ...PROGRAMS, docker });
  const { folders, port } = await newCheckout();
  const env = { PATH: process.env.PATH, VALKEY_IMAGE: 'local/x:1' };
  const launch = createClusterLaunch({ folders, port, backend: 'kind', env, log: () => {} });

  await expect(launch.up()).rejects.toThrow(
    'VALKEY_IMAGE is "local/x:1", which is unavailable: manifest for local/x:1 not found',
  );
  await launch.undo();

  expect(programs.calls().join('\n')).not.toContain('kind create');
});

/** The record of an earlier start on kind. */
async function upOnKindBefore() {
  const { folders, port } = await newCheckout();
  const place = { cluster: `fw-${port}`, namespace: 'fw', release: 'platform' };
  const record = { ...place, backend: 'kind', address: `http://localhost:${port}` } as const;
  writeCluster(folders.run, record);
  fs.writeFileSync(path.join(folders.run, 'kubeconfig'), '');
  return { folders, port, record };
}

test.each([
  ['is stopped', 'echo exited', ' does not run (exited): "docker start '],
  ['was removed', '', ' no longer exists: run "make down" first'],
  ['is unknown', 'echo "no engine" >&2; exit 1', 'Cannot find the kind cluster fw-'],
])('on kind: a node that %s is reported in one line', async (_, response, reason) => {
  const { folders, port } = await upOnKindBefore();
  using programs = fakePrograms({ ...PROGRAMS, docker: `"ps --all"*) ${response};;` });
  const launch = createClusterLaunch({ folders, port, backend: 'kind', env: {}, log: () => {} });

  await expect(launch.up()).rejects.toThrow(reason);

  expect(programs.calls()).toHaveLength(1);
});

test('on kind: a cluster cannot be deleted without kind', async () => {
  const { folders, port, record } = await upOnKindBefore();
  using _ = fakePrograms({ docker: '' });

  await expect(removeFromCluster({ run: folders.run, record, clean: false })).rejects.toThrow(
    `Cannot delete the kind cluster fw-${port}: kind is not on the PATH`,
  );
});

test('while an upgrade is in progress, replicas of the version before do not count as ready', async () => {
  const status = { observedGeneration: 1, replicas: 3, updatedReplicas: 1, readyReplicas: 2 };
  const kubectl = `*deployments,statefulsets*) echo '${JSON.stringify({ items: [{ ...PART, status }] })}';;${KUBECTL}`;
  using _ = fakePrograms({ ...PROGRAMS, kubectl });
  const shown: string[] = [];
  const env = { KUBECONFIG: SOME_FILE, TIMEOUT: '1' };

  const { up, launch } = await upOnKubeconfig(env, (line) => shown.push(line));

  await expect(up).rejects.toThrow('Not ready within 1 s: users (0 of 2)');
  expect(new Set(shown)).toEqual(new Set(['  Waiting for users (0 of 2)']));
  await launch.undo();
});

test('a changed part is printed when it is ready, an unchanged one is not', async () => {
  const { folders, port } = await upOnKindBefore();
  const catalog = { ...PART, metadata: { name: 'platform-catalog', generation: 1 } };
  const changing = { ...catalog, metadata: { ...catalog.metadata, generation: 2 } };
  const list = (...items: readonly object[]) => JSON.stringify({ items });
  const seen = `${folders.root}/seen`;
  const kubectl = `*deployments,statefulsets*)
if [ -e '${seen}' ]; then echo '${list(PART, catalog)}'; else : > '${seen}'; echo '${list(PART, changing)}'; fi;;
${KUBECTL}`;
  const docker = `"ps --all"*) echo running;;${PROGRAMS.docker}`;
  using _ = fakePrograms({ ...PROGRAMS, docker, kubectl });
  const lines: string[] = [];
  const env = { PATH: process.env.PATH };
  const log = respondAfterLoading(port, lines);

  await createClusterLaunch({ folders, port, backend: 'kind', env, log }).up();

  const parts = lines.filter((line) => line.startsWith('  '));
  expect(parts).toEqual([expect.stringMatching(/^ {2}catalog {4}2 ready after [\d.]+ s$/)]);
});

/** Any existing file: the programs that would read it are replaced. */
const SOME_FILE = import.meta.filename;

async function upOnKubeconfig(env: NodeJS.ProcessEnv, status = (_line: string): void => {}) {
  const { folders, port } = await newCheckout();
  const launch = createClusterLaunch({
    folders,
    port,
    backend: 'kubeconfig',
    env: { PATH: process.env.PATH, ...env },
    log: () => {},
    status,
  });
  return { folders, launch, up: launch.up() };
}

test.each([
  ['is empty', {}, 'KUBECONFIG is not set: expected the file of a cluster'],
  [
    'names a missing file',
    { KUBECONFIG: '/nowhere' },
    'KUBECONFIG names /nowhere, which does not exist',
  ],
])('a KUBECONFIG that %s is rejected', async (_, env, reason) => {
  using _programs = fakePrograms(PROGRAMS);

  const { up } = await upOnKubeconfig(env);

  await expect(up).rejects.toThrow(reason);
});

test.each([
  [
    'does not respond',
    { kubectl: `*version*) echo "connection refused" >&2; exit 1;;${KUBECTL}` },
    'Cannot reach the cluster a-context: connection refused',
  ],
  [
    'does not grant enough rights',
    { kubectl: `*can-i*secrets*) echo no; exit 1;;${KUBECTL}` },
    'Cannot install on a-context: no permission to create secrets in fw',
  ],
  [
    'has a release of another owner',
    { helm: 'status*) echo deployed;;' },
    '"make up" did not install the existing release platform in fw of a-context',
  ],
])('a cluster that %s is not changed', async (_, programs, reason) => {
  using fakes = fakePrograms({ ...PROGRAMS, ...programs });

  const { up, launch, folders } = await upOnKubeconfig({ KUBECONFIG: SOME_FILE });

  await expect(up).rejects.toThrow(reason);
  await launch.undo();
  expect(fakes.calls().join('\n')).not.toMatch(/apply|upgrade|uninstall|delete/);
  expect(fs.existsSync(folders.run)).toBe(false);
});

test('an unschedulable pod is printed with its last event, and the installation is removed', async () => {
  const waiting = { ...PART, status: { ...PART.status, readyReplicas: 0 } };
  const kubectl = `*deployments,statefulsets*) echo '${JSON.stringify({ items: [waiting] })}';;${KUBECTL}`;
  using programs = fakePrograms({ ...PROGRAMS, kubectl });

  const { up, launch, folders } = await upOnKubeconfig({ KUBECONFIG: SOME_FILE, TIMEOUT: '1' });

  await expect(up).rejects.toThrow(`Not ready within 1 s: users (0 of 2)
    Pod platform-users-1 is Pending
      last event: FailedScheduling: 0/1 nodes are available: 1 Insufficient memory`);
  await launch.undo();
  expect(programs.calls().join('\n')).toContain('delete namespaces');
  expect(fs.existsSync(folders.run)).toBe(false);
});

test.each([
  [false, '; the data remains (kubectl delete --namespace fw pvc data-platform-postgres-0)'],
  [true, ''],
])('volume claims are removed only if clean: %s', async (clean, rest) => {
  const gone = clean ? '' : 'echo persistentvolumeclaim/data-platform-postgres-0';
  using programs = fakePrograms({
    ...PROGRAMS,
    kubectl: `*"get persistentvolumeclaims"*) ${gone};;${KUBECTL}`,
    helm: '',
  });
  const { folders } = await newCheckout();
  const place = { cluster: 'a-context', namespace: 'fw', release: 'platform' };
  const record = { ...place, backend: 'kubeconfig', address: 'http://localhost:8080' } as const;

  const summary = await removeFromCluster({ run: folders.run, record, clean });

  expect(summary).toBe(`Removed the charts from fw of a-context${rest}`);
  const calls = programs.calls().join('\n');
  expect(calls).toContain('helm uninstall platform --namespace fw --wait');
  expect(calls.includes('delete persistentvolumeclaims')).toBe(clean);
  expect(calls.includes('delete namespaces')).toBe(clean);
});

test('the record of an unavailable cluster is kept, so that it can be removed later', async () => {
  using _ = fakePrograms({
    ...PROGRAMS,
    helm: 'status*) echo "Error: connection refused" >&2; exit 1;;',
  });
  const { folders } = await newCheckout();
  const place = { cluster: 'a-context', namespace: 'fw', release: 'platform' };
  const record = { ...place, backend: 'kubeconfig', address: 'http://localhost:8080' } as const;

  await expect(removeFromCluster({ run: folders.run, record, clean: false })).rejects.toThrow(
    'Cannot remove the charts from fw of a-context: Error: connection refused; if the cluster ' +
      'no longer exists, delete .local/run',
  );
});

test('TIMEOUT must be a number of seconds', async () => {
  const { folders, port } = await newCheckout();
  const env = { TIMEOUT: 'soon' };

  expect(() => createClusterLaunch({ folders, port, backend: 'kind', env, log: () => {} })).toThrow(
    'TIMEOUT is "soon": expected a whole number of seconds',
  );
});
