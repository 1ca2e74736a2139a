import { execFile } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, describe, expect, onTestFinished, test } from 'vitest';

import { clusterOf } from '../../deploy/local/cluster/install.ts';
import { foldersOf } from '../../deploy/local/state.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { ADDED_SERVICE, checkoutForKind, type Ended, TAG } from './checkout.ts';

const PARTS = [...SERVICE_NAMES, ADDED_SERVICE, 'edge', 'postgres', 'valkey'].sort();
const UNAVAILABLE = 'fw.invalid/image:1';

const checkout = await checkoutForKind();
const { make, makeWithoutKind, start, port } = checkout;
const { run } = foldersOf(checkout.folder);
const name = `fw-${port}`;
const origin = `http://localhost:${port}`;
const node = `${name}-control-plane`;

afterAll(async () => {
  await make('down');
  checkout.remove();
});

async function docker(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('docker', args)).stdout.trim();
}

/** What exists on this machine because of `make up`. */
async function findLeftovers(): Promise<readonly string[]> {
  const label = `label=io.x-k8s.kind.cluster=${name}`;
  const containers = await docker('ps', '--all', '--filter', label, '--format', '{{.Names}}');
  const images = await docker('images', '--filter', `reference=fw-*:${TAG}`, '--quiet');
  const files = fs.existsSync(run) ? fs.readdirSync(run) : [];
  return [...containers.split('\n'), ...images.split('\n'), ...files].filter(Boolean);
}

/** The lines that a command printed, except the backend, its progress and the summary of make. */
function errorsOf({ output }: Ended): string[] {
  const lines = output.trimEnd().split('\n');
  return lines.filter((line) => !/^(make(\[\d+\])?: |Backend: |Pulling |$)/.test(line));
}

/** The names of the pods of a part; those that are ending do not count. */
async function podsOf(part: string): Promise<string[]> {
  const pods = await clusterOf(run, AbortSignal.timeout(30_000)).pods('fw');
  return pods
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.name)
    .filter((pod) => pod.startsWith(`platform-${part}-`))
    .sort();
}

/** Creates a user and returns its address. */
async function createUser(): Promise<string> {
  const response = await fetch(`${origin}/api/v2/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"Ada","email":"ada@example.org"}',
  });
  return new URL(response.headers.get('location') ?? '', origin).href;
}

describe('make up BACKEND=kind fails in one line and creates nothing', () => {
  test.each([
    [
      'POSTGRES_IMAGE cannot be pulled',
      `POSTGRES_IMAGE=${UNAVAILABLE}`,
      `POSTGRES_IMAGE is "${UNAVAILABLE}", which is unavailable: `,
    ],
    [
      'the node image cannot be pulled',
      `KIND_IMAGE=${UNAVAILABLE}`,
      `BACKEND is kind, but the node image of kind, ${UNAVAILABLE}, is unavailable: `,
    ],
    [
      'no Docker engine responds',
      'DOCKER_HOST=unix:///nowhere',
      'BACKEND is kind, but no Docker engine responds: ',
    ],
  ])('if %s', async (_, variable, reason) => {
    const ended = await make('up', 'BACKEND=kind', variable);

    expect(ended.code).not.toBe(0);
    expect(errorsOf(ended)).toEqual([expect.stringContaining(reason)]);
    expect(await findLeftovers()).toEqual([]);
  });

  test('if kind is not on the PATH', async () => {
    const ended = await makeWithoutKind('up', 'BACKEND=kind');

    expect(ended.code).not.toBe(0);
    expect(errorsOf(ended)).toEqual([
      'BACKEND is kind, but kind is not on the PATH (https://kind.sigs.k8s.io)',
    ]);
  });

  test('if the port is taken', async () => {
    const server = net.createServer().listen(port, '127.0.0.1');
    onTestFinished(() => void server.close());

    const ended = await make('up', 'BACKEND=kind');

    expect(ended.code).not.toBe(0);
    expect(errorsOf(ended)).toEqual([
      expect.stringContaining(`Port ${port}, which the edge needs, is taken`),
    ]);
    expect(await findLeftovers()).toEqual([]);
  });
});

test('Ctrl-C while the cluster is created leaves nothing', async () => {
  const up = start('up', 'BACKEND=kind');
  await up.printed('Creating the kind cluster');

  up.interrupt();

  expect((await up.ended).code).not.toBe(0);
  expect(await findLeftovers()).toEqual([]);
});

test('make up BACKEND=kind starts every part', async () => {
  const { code, output } = await make('up', 'BACKEND=kind');

  expect(code).toBe(0);
  expect(output).toContain('Backend: kind, because BACKEND is kind');
  expect(output).toContain(`Open      ${origin}`);
});

test('make status prints every part', async () => {
  const { code, output } = await make('status');

  expect(code).toBe(0);
  expect(output).toContain(`On kind: namespace fw of ${name}, at ${origin}`);
  for (const part of PARTS) expect(output).toMatch(new RegExp(`^${part} +(\\d) of \\1 ready`, 'm'));
});

test('make smoke passes, also for the added service', async () => {
  const { code, output } = await make('smoke');

  expect(code).toBe(0);
  expect(output).toContain(`${ADDED_SERVICE} v2`);
});

test('make load meets the objectives, also of the added service', async () => {
  const { code, output } = await make('load');

  expect(code).toBe(0);
  expect(output).toContain(`GET /api/v2/${ADDED_SERVICE}`);
});

test('helm test passes', async () => {
  const cluster = clusterOf(run, AbortSignal.timeout(180_000));

  await cluster.helm(['test', 'platform', '--namespace', 'fw', '--timeout', '150s']);
});

test('make up without a change restarts no pod, also if the labels of the images differ', async () => {
  const before = await podsOf('');

  const { code, output } = await make('up', 'SOURCE=https://example.org/another');

  expect(code, output).toBe(0);
  expect(await podsOf('')).toEqual(before);
});

test('after a change of users, make up can be interrupted, and replaces only the pods of users', async () => {
  const others = PARTS.filter((part) => part !== 'users');
  const user = await createUser();
  const file = path.join(checkout.folder, 'services/users/src/main.ts');
  const pods = async () => (await Promise.all(others.map(podsOf))).flat();
  const [usersBefore, othersBefore] = [await podsOf('users'), await pods()];
  fs.appendFileSync(file, "\nprocess.env.CHANGED = 'yes';\n");

  const interrupted = start('up');
  await interrupted.printed('Installing the charts');
  interrupted.interrupt();
  expect((await interrupted.ended).code).not.toBe(0);
  const { code, output } = await make('up');

  expect({ code, output }).toMatchObject({ code: 0 });
  const usersAfter = await podsOf('users');
  expect(usersAfter).toHaveLength(usersBefore.length);
  expect(usersAfter.filter((pod) => usersBefore.includes(pod))).toEqual([]);
  expect(await pods()).toEqual(othersBefore);
  expect((await fetch(user)).status).toBe(200);
});

describe('while the node is stopped', () => {
  test('every command fails in one line', async () => {
    await docker('stop', '-t', '1', node);

    const stopped = [
      `The node of the kind cluster ${name} does not run (exited): "docker start ${node}", or "make down"`,
    ];
    for (const target of ['up', 'status', 'logs']) {
      const ended = await make(target);
      expect(ended.code, target).not.toBe(0);
      expect(errorsOf(ended), target).toEqual(stopped);
    }
    const smoke = await make('smoke');
    expect(smoke.code).not.toBe(0);
    expect(smoke.output.match(/Cannot reach|fetch failed/g)).toEqual(['Cannot reach']);
  });

  test('docker start and make up restore the system', async () => {
    await docker('start', node);

    const { code, output } = await make('up');
    expect(code, output).toBe(0);
  });
});

test('make down without kind on the PATH fails in one line', async () => {
  const ended = await makeWithoutKind('down');

  expect(ended.code).not.toBe(0);
  expect(errorsOf(ended)).toEqual([
    `Cannot delete the kind cluster ${name}: kind is not on the PATH`,
  ]);
});

test('make down leaves nothing', async () => {
  const { code, output } = await make('down');

  expect(code).toBe(0);
  expect(output).toBe(`Deleted the kind cluster ${name} and its data\n`);
  expect(await findLeftovers()).toEqual([]);
  expect((await make('leftovers')).output).toContain('Nothing is left behind');
});
