import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

import { afterAll, expect, test } from 'vitest';

import { clusterOf } from '../../deploy/local/cluster/install.ts';
import { runProgram } from '../../deploy/local/cluster/program.ts';
import { folders } from '../../deploy/local/state.ts';
import { freePortsFrom } from '../../deploy/local/testing/ports.ts';
import { SERVICE_NAMES } from '../../services/services.ts';

/** Without the variables of this run of make and Vitest: make would print the folders that it enters. */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(MAKE|VITEST|TEST)/.test(name)),
);

/** The tag of the images of this run: those of the checkout, and of a run that was killed, stay as they are. */
const TAG = `kind-${randomUUID().slice(0, 8)}`;
const port = await freePortsFrom([0]);
const name = `fw-${port}`;

interface Ended {
  readonly code: number | null;
  /** Standard output and standard error. */
  readonly output: string;
}

interface MakeOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Sends Ctrl-C when the output contains this text. */
  readonly interruptAt?: string;
}

/** Runs `make` with arguments such as `up` and `BACKEND=kind`. */
async function make(
  args: readonly string[],
  { env, interruptAt }: MakeOptions = {},
): Promise<Ended> {
  const child = spawn('make', [...args, `PORT=${port}`, `TAG=${TAG}`], {
    cwd: folders.root,
    env: { ...ENVIRONMENT, ...env, NO_COLOR: '1' },
    // A process group of its own, which a signal reaches as a whole, as from a terminal.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let isInterrupted = false;
  const read = (chunk: Buffer) => {
    output += chunk;
    process.stdout.write(chunk);
    if (!interruptAt || isInterrupted || !output.includes(interruptAt) || !child.pid) return;
    isInterrupted = true;
    process.kill(-child.pid, 'SIGINT');
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const [code] = await once(child, 'close');
  return { code, output };
}

/** The containers and images that exist because of `make up`. */
async function findLeftovers(): Promise<string> {
  const label = `label=io.x-k8s.kind.cluster=${name}`;
  const containers = ['ps', '--all', '--filter', label, '--format', '{{.Names}}'];
  const images = ['images', '--filter', `reference=fw-*:${TAG}`, '--quiet'];
  return (await runProgram('docker', containers)) + (await runProgram('docker', images));
}

/** The names of the pods of a part. */
async function podsOf(part: string): Promise<string[]> {
  const cluster = clusterOf(folders.run, AbortSignal.timeout(30_000));
  const pods = await cluster.pods('fw', `app.kubernetes.io/name=${part}`);
  return pods
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.name)
    .sort();
}

afterAll(() => make(['down']));

test('an image that cannot be pulled ends make up with one line, and creates nothing', async () => {
  const image = 'fw.invalid/image:1';

  const { code, output } = await make(['up', 'BACKEND=kind', `POSTGRES_IMAGE=${image}`]);

  expect(code).not.toBe(0);
  expect(output).toContain(`POSTGRES_IMAGE is "${image}", which is unavailable: `);
  expect(await findLeftovers()).toBe('');
});

test('Ctrl-C while the cluster is created leaves nothing', async () => {
  const interruptAt = 'Creating the kind cluster';

  const { code } = await make(['up', 'BACKEND=kind'], { interruptAt });

  expect(code).not.toBe(0);
  expect(await findLeftovers()).toBe('');
});

test('make up BACKEND=kind starts a system that passes make smoke and make load', async () => {
  const up = await make(['up', 'BACKEND=kind']);
  expect(up.code).toBe(0);
  expect(up.output).toContain(`Open      http://localhost:${port}`);

  const status = await make(['status']);
  for (const part of [...SERVICE_NAMES, 'edge', 'postgres', 'valkey']) {
    expect(status.output).toMatch(new RegExp(`^platform-${part}-\\S+ +1/1 +Running`, 'm'));
  }
  expect((await make(['smoke'])).code).toBe(0);
  expect((await make(['load'])).code).toBe(0);
});

test('make up again replaces only the pods of a service whose variables changed', async () => {
  const parts = ['users', 'catalog', 'edge', 'postgres', 'valkey'];
  const podsOfAll = async () => (await Promise.all(parts.map(podsOf))).flat();
  const [others, reports] = [await podsOfAll(), await podsOf('reports')];

  expect((await make(['up'])).code).toBe(0);
  expect(await podsOf('reports')).toEqual(reports);

  expect((await make(['up'], { env: { RATE_LIMIT_FREE: '7' } })).code).toBe(0);
  expect(await podsOfAll()).toEqual(others);
  for (const pod of await podsOf('reports')) expect(reports).not.toContain(pod);
});

test('while its node is stopped, make up ends with the command that starts it', async () => {
  const node = `${name}-control-plane`;
  await runProgram('docker', ['stop', '-t', '1', node]);

  const { code, output } = await make(['up']);

  expect(code).not.toBe(0);
  expect(output).toContain(`"docker start ${node}", or "make down"`);
});

test('make down leaves nothing', async () => {
  const { code, output } = await make(['down']);

  expect(code).toBe(0);
  expect(output).toContain(`Deleted the kind cluster ${name} and its data`);
  expect(await findLeftovers()).toBe('');
});
