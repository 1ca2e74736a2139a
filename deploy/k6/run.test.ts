import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SERVICE_NAMES } from '../../services/services.ts';
import { ensureTool } from '../../tools/programs.ts';
import { freePort, listenAnywhere } from '../local/testing/ports.ts';
import { startTrialSystem, type TrialSystem } from '../local/testing/trial-system.ts';
import { secretFile } from '../local/token.ts';
import { KINDS } from './lib/objectives.ts';
import { runLoad } from './run.ts';

const PROGRAM = path.join(import.meta.dirname, 'run.ts');

const { PATH, HOME, XDG_CACHE_HOME } = process.env;
/** Where the program finds k6. */
const MACHINE = { PATH, HOME, XDG_CACHE_HOME };
/** Latency objectives that hold on a busy machine. */
const TOLERANT = { ...MACHINE, LATENCY_FACTOR: '100' };

let system: TrialSystem;
beforeAll(async () => {
  ensureTool('k6');
  system = await startTrialSystem();
});
afterAll(() => system.stop());

interface RunOptions {
  readonly base?: string;
  readonly until?: AbortSignal;
}

/** Runs a profile against the system; returns the result, the output, and k6's metrics. */
async function run(
  profile: string,
  env: Readonly<Record<string, string>>,
  options: RunOptions = {},
) {
  const out = newFolder();
  let output = '';
  const result = await runLoad({
    profile,
    base: system.origin,
    env: { ...TOLERANT, ...env },
    run: system.folders.run,
    out,
    print: (text) => {
      output += text;
    },
    ...options,
  });
  const { metrics } = JSON.parse(fs.readFileSync(path.join(out, `${profile}.json`), 'utf8'));
  return { ...result, output, metrics, out };
}

/** Runs the program as `make load` does, with no environment other than `env`. */
function runProgram(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return spawnSync(process.execPath, [PROGRAM, ...args], {
    env: { ...MACHINE, ...env },
    encoding: 'utf8',
  });
}

function newFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-load-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

function secret(): string {
  return fs.readFileSync(secretFile(system.folders.run), 'utf8').trim();
}

test('smoke finds the secret of a local system and sends every kind of request', async () => {
  const { output, metrics, out, ...result } = await run('smoke', { DURATION: '4s' });

  expect(result, output).toMatchObject({ ok: true, failed: 0, dropped: 0 });
  for (const kind of KINDS) {
    expect(metrics[`http_req_duration{name:${kind}}`].med, kind).toBeGreaterThan(0);
  }
  expect(metrics.checks.value).toBe(1);
  expect(output).toMatch(/http_req_duration\{name:GET \/api\/v2\/reports\/:id\}\n.*✓ 'p\(95\)</);
  expect(output).toMatch(/^Report: .*smoke\.html$/m);
  expect(fs.readFileSync(path.join(out, 'smoke.html'), 'utf8')).toContain('<html');
});

test('versions prints the response times of both versions', async () => {
  const { output, ...result } = await run('versions', { DURATION: '2s', RATE: '5' });

  expect(result, output).toMatchObject({ ok: true, failed: 0, dropped: 0 });
  expect(output).toMatch(/^ +v1 med +v1 p\(95\) +v2 med +v2 p\(95\) +v2\/v1 med$/m);
  expect(output).toMatch(/^change a user( +\d+\.\d\d){5}$/m);
});

test('breakpoint prints the capacity, and adds it to the summary', async () => {
  // So few that a busy machine starts each of them in time.
  const { output, out, ...result } = await run('breakpoint', { DURATION: '2s', RATE: '5' });

  expect(result, output).toMatchObject({ ok: true, failed: 0, capacity: 5 });
  expect(output).toContain('Capacity: 5 requests per second or more: set a higher RATE\n');
  const summary = JSON.parse(fs.readFileSync(path.join(out, 'breakpoint.json'), 'utf8'));
  expect(summary.capacity).toBe(5);
});

test('rollout reads from every version of every service', async () => {
  const { output, metrics, ...result } = await run('rollout', { DURATION: '4s', RATE: '40' });

  expect(result, output).toMatchObject({ ok: true, failed: 0, dropped: 0 });
  for (const service of SERVICE_NAMES) {
    for (const version of ['v1', 'v2']) {
      const kind = Object.keys(metrics).find((name) =>
        name.startsWith(`http_req_duration{name:GET /api/${version}/${service}`),
      );
      // Version 2 of users is read as a list, version 1 by id.
      expect(metrics[kind ?? ''].med, `${version} of ${service}`).toBeGreaterThan(0);
    }
  }
});

test('rollout with LEDGER logs each user that was created, in the log only', async () => {
  const { output, log, stream } = await run('rollout', { DURATION: '2s', RATE: '20', LEDGER: '1' });

  const lines = fs
    .readFileSync(log, 'utf8')
    .match(/ msg="created \S+ load-\S+@example.org Load \S+"/g);
  expect(stream).toEqual({ lost: 0, creations: lines?.length, created: lines?.length });
  expect(stream?.created).toBeGreaterThan(10);
  expect(output).not.toContain('created ');
});

test('rollout with RETRY_SECONDS repeats a failed request, a POST with its Idempotency-Key', async () => {
  const attempts = new Map<unknown, number>();
  const base = await startServer((request, response) => {
    const key = request.headers['idempotency-key'] ?? request.url;
    attempts.set(key, (attempts.get(key) ?? 0) + 1);
    const isFirst = request.method === 'POST' && attempts.get(key) === 1;
    const status = request.method === 'POST' ? 201 : 200;
    response.writeHead(isFirst ? 503 : status).end('{"data":{"id":"1"}}');
  });

  const { stream } = await run(
    'rollout',
    { DURATION: '2s', RATE: '10', RETRY_SECONDS: '9' },
    { base },
  );

  expect(stream).toMatchObject({ lost: 0, creations: stream?.created });
  expect(stream?.created).toBeGreaterThan(5);
  const keys = [...attempts].filter(([key]) => !String(key).startsWith('/'));
  expect(keys.map(([, count]) => count)).toEqual(keys.map(() => 2));
  expect(keys).toHaveLength(stream?.created ?? 0);
});

test('rate-limit: of 300 simultaneous requests of one user, 100 pass and 200 get 429', async () => {
  const { output, metrics, ...result } = await run('rate-limit', {});

  expect(result, output).toMatchObject({ ok: true, requests: 300, failed: 0 });
  expect(metrics).toMatchObject({
    requests_passed: { count: 100 },
    requests_limited: { count: 200 },
  });
});

test('a missed threshold is marked in the output and makes the program exit with 1', () => {
  const args = ['--base', system.origin, '--out', newFolder()];

  const { status, stdout, stderr } = runProgram(args, {
    JWT_SECRET: secret(),
    DURATION: '3s',
    LATENCY_FACTOR: '0.001',
  });

  expect(status).toBe(1);
  expect(stdout).toMatch(/^ +http_req_duration\{name:GET \/api\/v1\/users\}\n +✗ 'p\(95\)<0\.25'/m);
  expect(stdout).toMatch(/^ +✓ 'count==0' count=0$/m);
  expect(stderr).toBe('Thresholds were missed: those marked ✗\n');
});

test('failed requests are counted, and the first are printed', async () => {
  const base = await startServer((_, response) => {
    response.writeHead(503, { 'content-type': 'application/problem+json' }).end('{"status":503}');
  });

  const { output, ...result } = await run(
    'smoke',
    { DURATION: '2s', JWT_SECRET: 'x'.repeat(32) },
    { base },
  );

  expect(result).toMatchObject({ ok: false, failed: result.requests });
  // The routes are chosen randomly, and only the first failures are printed.
  expect(output).toMatch(/(?:GET|POST) \/api\/v[12]\/\S+: status 503: \{\\"status\\":503\}/);
  expect(output).toMatch(/^Log: .*smoke\.log$/m);
});

/** Starts a server on a free port; returns its origin. */
async function startServer(respond: http.RequestListener): Promise<string> {
  const server = http.createServer(respond);
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await listenAnywhere(server)}`;
}

test.each([
  [['--profile', 'fast'], 'Cannot run the profile "fast": expected smoke, load, soak, stress'],
  [['--profile', 'toString'], 'Cannot run the profile "toString": expected smoke'],
  [['--base', 'localhost:8080'], 'BASE is "localhost:8080": expected an address such as http://'],
  [['--base', ''], 'BASE is "": expected an address such as http://localhost:8080'],
  [['--base', 'https://fw.example'], 'Cannot request reports from https://fw.example: set TOKEN'],
  [['--speed', '9'], "Unknown option '--speed'"],
])('the program rejects %j with one line', (args, reason) => {
  const { status, stdout, stderr } = runProgram(args);

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain(reason);
});

test('the program prints one line if no server listens at BASE', async () => {
  const address = `127.0.0.1:${await freePort()}`;

  const { status, stdout, stderr } = runProgram(['--base', `http://${address}`], { TOKEN: 'any' });

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toBe(
    `Cannot reach http://${address} (connect ECONNREFUSED ${address}): ` +
      'start the system with "make up" or set BASE\n',
  );
});
