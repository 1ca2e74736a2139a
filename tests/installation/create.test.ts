import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';

import { runProgram } from '../../deploy/local/cluster/program.ts';
import { startProgram } from '../../deploy/local/testing/program.ts';
import { Container, docker, missingEngine } from '../../tools/images/container.ts';

const MINUTES = 60_000;
const tarball = inject('tarballs').find((file) => file.includes('/create-fw-')) ?? '';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-create-'));
afterAll(() => fs.promises.rm(folder, { recursive: true }), 5 * MINUTES);

// publish.test.ts runs the tests and the checks of a service, from a registry.
const service = path.join(folder, 'invoices');
let printed = '';
beforeAll(async () => {
  printed = await run(folder, 'npx', '--yes', `file:${tarball}`, 'invoices');
  await run(service, 'npm', 'install', '--prefer-offline');
}, 5 * MINUTES);

function run(cwd: string, program: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '', NODE_ENV: '', VITEST: '' };
  return runProgram(program, args, { cwd, env });
}

/** Sends requests to a service that has no tasks; its ports are at `url` and `health`. */
async function exerciseService(url: string, health: string) {
  const post = (body: string) =>
    fetch(`${url}/api/v1/tasks`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    });
  const created = await post('{"title":"Write the report"}');
  const invalid = await post('{"title":""}');
  const list = await fetch(`${url}/api/v1/tasks`);
  const document = await fetch(`${url}/openapi.json`);
  const metrics = await (await fetch(`${health}/metrics`)).text();
  const probes = ['/livez', '/readyz'].map(async (one) => (await fetch(health + one)).status);

  expect([created.status, invalid.status]).toEqual([201, 400]);
  expect(await list.json()).toMatchObject({ data: [{ title: 'Write the report', done: false }] });
  expect(await document.json()).toMatchObject({ paths: { '/api/v1/tasks/{id}': {} } });
  expect(metrics).toContain(
    'http_server_request_duration_seconds_count{http_request_method="POST",url_scheme="http",http_route="/api/v1/tasks",http_response_status_code="400"} 1',
  );
  expect(await Promise.all(probes)).toEqual([200, 200]);
}

test('create-fw prints the files that it wrote and the next commands', () => {
  const files = printed
    .split('\n')
    .filter((line) => fs.existsSync(path.join(service, line.trim())));

  expect(files.map((line) => line.trim())).toEqual(
    expect.arrayContaining(['Dockerfile', '.gitignore', 'src/main.ts', 'src/v1.test.ts']),
  );
  expect(printed).toContain('Next:\n  cd invoices\n  npm install\n  npm run dev\n');
});

test('the service serves requests after npm run build, and ends on SIGTERM with exit code 0', async () => {
  await run(service, 'npm', 'run', 'build');
  const { program, health, url } = await start(process.execPath, 'dist/main.js');

  await exerciseService(url, health);
  await program.stop();

  expect(await program.ended).toEqual([0, null]);
});

test('the service serves requests with npm run dev', async () => {
  const { health, url } = await start('npm', 'run', 'dev');

  await exerciseService(url, health);
});

/** Starts the service with an empty store; it is killed at the end of the test. */
async function start(...command: readonly string[]) {
  const drain = { DRAIN_DELAY_MS: '0', DRAIN_IDLE_MS: '0' };
  const ports = { PORT: '0', HEALTH_PORT: '0', LOG_FORMAT: 'json', ...drain };
  const program = await startProgram(command, {
    cwd: service,
    env: { PATH: process.env.PATH, HOME: os.homedir(), DATABASE_FILE: ':memory:', ...ports },
    ready: /(http:\/\/[\d.:]+).*(http:\/\/[\d.:]+)/s,
    isGroup: true,
  });
  onTestFinished(() => program.stop('SIGKILL'));
  const [, health = '', url = ''] = program.match;
  return { program, health, url };
}

const missing = missingEngine();
if (missing) console.warn(`The test of the image is skipped: ${missing}`);

test.skipIf(missing)(
  `the image of the service runs without a shell, as user 65532${missing ? ` (skipped: ${missing})` : ''}`,
  async () => {
    const image = `fw-create:test-${randomUUID().slice(0, 8)}`;
    // The images in the environment, or those of the Dockerfile.
    const bases = ['--build-arg=BUILD_IMAGE', '--build-arg=RUN_IMAGE'];
    await docker('build', '--force-rm', ...bases, '--tag', image, service);
    try {
      await using container = await Container.start({ image });
      await container.ready();

      await exerciseService(await container.address(8080), await container.address(9090));
      await expect(docker('exec', container.id, 'sh')).rejects.toThrow(/"sh": .*not found/);
      await container.signal('SIGTERM');
      const { code } = await container.ended();

      expect(await docker('inspect', '--format', '{{.Config.User}}', image)).toBe('65532:65532');
      expect(code).toBe(0);
    } finally {
      await docker('image', 'rm', '--force', image);
    }
  },
  5 * MINUTES,
);
