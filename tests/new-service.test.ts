import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';

import { only, type Rendered, readObjects } from '../deploy/charts/tests/render.ts';
import { SECOND_FILE } from '../deploy/charts/tests/values.ts';
import { freePortsFrom } from '../deploy/local/testing/ports.ts';
import { startProgram } from '../deploy/local/testing/program.ts';

const root = path.resolve(import.meta.dirname, '..');
const worktree = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'fw-new-service-')), 'fw');
const port = await freePortsFrom([0, 1, 2, 3, 4, 5, 6, 7]);

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: worktree, encoding: 'utf8' });

/** The environment without the variables of this run of make and Vitest. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(MAKE|VITEST|TEST)/.test(name));
  return Object.fromEntries(kept);
}

/** Runs a command in the worktree; returns its output, or rejects with it. */
async function run(program: string, ...args: readonly string[]): Promise<string> {
  const options = { cwd: worktree, env: environment(), maxBuffer: 64 * 1024 ** 2 };
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, options);
    return stdout + stderr;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`, { cause: error });
  }
}

beforeAll(async () => {
  execFileSync('git', ['worktree', 'add', '--quiet', '--detach', worktree], { cwd: root });
  // The changes that are not committed yet.
  const changed = execFileSync('git', ['diff', '--binary', 'HEAD'], { cwd: root });
  if (changed.length > 0) execFileSync('git', ['apply'], { cwd: worktree, input: changed });
  git('add', '--all');
  await run('npm', 'ci', '--prefer-offline', '--no-audit', '--no-fund');
  fs.writeFileSync(path.join(worktree, 'node_modules/.installed'), '');
});

afterAll(async () => {
  await run('make', 'down', 'CLEAN=1');
  execFileSync('git', ['worktree', 'remove', '--force', worktree], { cwd: root });
  fs.rmdirSync(path.dirname(worktree));
});

test.each([
  ['users', 'NAME is "users": there is already a service or package of this name'],
  ['Orders!', 'NAME is "Orders!": expected 2 to 20 lower-case letters, such as orders'],
  ['select', 'NAME is "select", which is reserved: expected another word'],
  ['sheep', 'Cannot derive the name of one resource from "sheep": set SINGULAR'],
])('make service NAME=%s is rejected in one line, and writes nothing', async (name, message) => {
  await expect(run('make', 'service', `NAME=${name}`)).rejects.toThrow(message);

  expect(git('status', '--porcelain', '--untracked-files').match(/^\?\?/gm)).toBeNull();
});

test('make service NAME=orders changes six files besides the lock file, and adds two folders and a link', async () => {
  await run('make', 'service', 'NAME=orders');

  expect(git('diff', '--name-only').trim().split('\n')).toEqual([
    'compose.yaml',
    'deploy/charts/platform/Chart.yaml',
    'deploy/charts/platform/values-production.yaml',
    'deploy/charts/platform/values.yaml',
    'deploy/charts/trial/values.yaml',
    'package-lock.json',
    'services/services.ts',
  ]);
  expect(git('ls-files', '--others', '--exclude-standard', '--directory').split('\n')).toEqual(
    expect.arrayContaining([
      'deploy/charts/orders/',
      'deploy/charts/platform/charts/orders',
      'services/orders/',
    ]),
  );
});

test('the new service passes make check and its tests', async () => {
  await run('make', 'check');

  await run('npx', 'vitest', 'run', 'services/orders', 'services/services.test.ts');
});

async function template(chart: string, ...args: readonly string[]): Promise<Rendered[]> {
  const output = await run('helm', 'template', 'fw', `deploy/charts/${chart}`, ...args);
  // Helm logs each symbolic link.
  return readObjects(output.replace(/^level=INFO .*\n/gm, ''));
}
const namesOf = (objects: readonly Rendered[]) =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

test('helm renders its chart alone, with a volume', async () => {
  expect(namesOf(await template('orders'))).toEqual(
    expect.arrayContaining(['Deployment fw-orders', 'PersistentVolumeClaim fw-orders-data']),
  );
});

test('helm renders it in the platform: the edge and PostgreSQL know it', async () => {
  const objects = await template('platform');

  expect(namesOf(objects)).toContain('Deployment fw-orders');
  expect(only(objects, 'Secret', 'fw-postgres').stringData).toHaveProperty('orders-url');
  expect(only(objects, 'ConfigMap', 'fw-edge').data['upstreams.conf']).toContain(
    'server fw-orders:80 ',
  );
  expect(JSON.stringify(only(objects, 'NetworkPolicy', 'fw-edge').spec.egress)).toContain(
    '"orders"',
  );
});

test('compose.yaml runs it as it runs catalog', () => {
  const text = fs.readFileSync(path.join(worktree, 'compose.yaml'), 'utf8');
  const { services, volumes } = parse(text, { merge: true });
  const { edge, secrets, catalog, orders } = services;

  expect(orders).toEqual(JSON.parse(JSON.stringify(catalog).replaceAll('catalog', 'orders')));
  expect(edge.environment.SERVICES).toBe('users catalog reports orders');
  expect(edge.depends_on.orders).toEqual(edge.depends_on.catalog);
  expect(secrets.volumes).toContain('orders-secrets:/secrets/databases/orders');
  expect(volumes).toHaveProperty('orders-secrets');
});

test('in production, it needs the peers of its database, and then gets an autoscaler and a route', async () => {
  const second = path.join(worktree, '.local/values.json');
  fs.mkdirSync(path.dirname(second), { recursive: true });
  fs.writeFileSync(second, JSON.stringify(SECOND_FILE));
  const production = ['--values', 'deploy/charts/platform/values-production.yaml'];
  const others = ['--values', second];
  const peers = 'orders.networkPolicy.egress.database.to=[{"ipBlock":{"cidr":"10.1.2.3/32"}}]';

  await expect(template('platform', ...production, ...others)).rejects.toThrow(
    'orders: networkPolicy.egress.database.to is empty',
  );
  const objects = await template('platform', ...production, ...others, '--set-json', peers);

  expect(namesOf(objects)).toEqual(
    expect.arrayContaining(['HorizontalPodAutoscaler fw-orders', 'HTTPRoute fw-orders']),
  );
  expect(JSON.stringify(only(objects, 'Deployment', 'fw-orders'))).toContain(
    '"name":"orders-database"',
  );
});

test('make up starts it: a POST and a GET through the edge', async () => {
  await run('make', 'up', 'BACKEND=processes', `PORT=${port}`);
  const url = `http://localhost:${port}/api/v1/orders`;

  const created = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"title":"Write the report"}',
  });
  const { data } = (await created.json()) as { readonly data: { readonly id: string } };
  const read = await fetch(`${url}/${data.id}`);

  expect(created.status).toBe(201);
  expect(await read.json()).toMatchObject({ data: { title: 'Write the report', done: false } });
});

test('Ctrl-C in the terminal of make dev ends it with exit code 0, and restores both replicas', async () => {
  const status = () => run('make', 'status').then((text) => text.match(/^\w.* ready /gm));
  const before = await status();
  const command = `make dev SERVICE=users PORT=${port}`;
  const script = ['script', '--quiet', '--return', '--command', command, '/dev/null'];
  const { child, ended, output } = await startProgram(script, {
    ...{ cwd: worktree, env: environment(), ready: /Ctrl-C: back to make up/ },
  });

  child.stdin?.write('\x03');

  expect({ exit: await ended, output: output() }).toMatchObject({ exit: [0, null] });
  expect((await status())?.sort()).toEqual(before?.sort());
});

test('the smoke tests and the load of k6 include it', async () => {
  expect(await run('make', 'smoke')).toContain('the document of orders');

  for (const profile of ['smoke', 'stress']) {
    const load = ['load', `PROFILE=${profile}`, `PORT=${port}`, 'RATE=20', 'DURATION=5s'];
    expect(await run('make', ...load)).toContain('GET /api/v1/orders');
  }
});
