import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { freePort, listenAnywhere } from '../local/testing/ports.ts';
import { startTrialSystem, type TrialSystem } from '../local/testing/trial-system.ts';
import { secretFile } from '../local/token.ts';
import { KINDS } from './lib/slo.ts';
import { runLoad } from './run.ts';

const PROGRAM = path.join(import.meta.dirname, 'run.ts');

/** What holds on a machine that has much else to do. */
const PATIENT = { PATH: process.env.PATH, LATENCY_FACTOR: '100' };

let system: TrialSystem;
beforeAll(async () => {
  system = await startTrialSystem();
}, 120_000);
afterAll(() => system.stop());

/** Runs a profile against the system, and keeps its files beside those of the system. */
async function run(profile: string, env: Readonly<Record<string, string>>) {
  const said: string[] = [];
  const result = await runLoad({
    profile,
    base: system.target.api.origin,
    env: { ...PATIENT, ...env },
    folders: system.folders,
    say: (line) => said.push(line),
  });
  return { ...result, said };
}

/** Runs the program as `make load` does, with nothing but `env`. */
function runProgram(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return spawnSync(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  });
}

function newFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-load-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

test.concurrent('smoke sends every kind of request to a local system, whose secret it finds', async () => {
  const { outcome, report = '', said } = await run('smoke', { DURATION: '4s' });

  expect(outcome, said.join('\n')).toMatchObject({ ok: true, failed: 0, dropped: 0 });
  expect(outcome.kinds.map(({ kind }) => kind)).toEqual(KINDS);
  expect(outcome.verdicts).toContainEqual(expect.objectContaining({ metric: 'checks', value: 1 }));
  expect(said).toContainEqual(expect.stringMatching(/^✓ GET \/api\/v2\/reports\/:id /));
  expect(fs.readFileSync(report, 'utf8')).toContain('<html');
}, 60_000);

test.concurrent('load rises, stays and falls', async () => {
  const { outcome, said } = await run('load', { DURATION: '1s', RATE: '4' });

  expect(outcome, said.join('\n')).toMatchObject({ ok: true, failed: 0, dropped: 0 });
  expect(outcome.seconds).toBeGreaterThan(15);
}, 60_000);

test.concurrent('half of the requests of a rollout create users, and the others read from all services', async () => {
  const { outcome, said } = await run('rollout', { DURATION: '4s', RATE: '40' });

  expect(outcome, said.join('\n')).toMatchObject({ ok: true, failed: 0, dropped: 0 });
  const sent = (part: string) =>
    outcome.kinds
      .filter(({ kind }) => kind.includes(part))
      .reduce((sum, { requests }) => sum + requests, 0);
  // One more is created beforehand, to be read.
  expect(Math.abs(sent('POST ') - 1 - sent('GET '))).toBeLessThanOrEqual(1);
  for (const service of ['users', 'catalog', 'reports']) {
    expect(sent(`GET /api/v1/${service}`)).toBeGreaterThan(0);
    expect(sent(`GET /api/v2/${service}`)).toBeGreaterThan(0);
  }
}, 60_000);

test.concurrent('a run that is ended before its time counts what was sent by then', async () => {
  const until = AbortSignal.timeout(10_000);

  const { outcome } = await runLoad({
    profile: 'rollout',
    base: system.target.api.origin,
    env: { ...PATIENT, DURATION: '10m', RATE: '20', JWT_SECRET: secret() },
    out: newFolder(),
    until,
    say: () => {},
  });

  expect(outcome).toMatchObject({ ok: true, failed: 0, dropped: 0 });
  expect(outcome.seconds).toBeLessThan(20);
}, 60_000);

test('of 300 requests of one user at once 100 pass, and 200 are turned away', async () => {
  const { outcome, said } = await run('rate-limit', {});

  expect(outcome, said.join('\n')).toMatchObject({ ok: true, requests: 300, failed: 0 });
  expect(outcome.verdicts).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ metric: 'requests_passed', value: 100 }),
      expect.objectContaining({ metric: 'requests_limited', value: 200 }),
    ]),
  );
}, 60_000);

function secret(): string {
  return fs.readFileSync(secretFile(system.folders.run), 'utf8').trim();
}

test('an interrupted program prints what it has, and ends with 1', async () => {
  const child = spawn(
    process.execPath,
    [PROGRAM, '--base', system.target.api.origin, '--out', newFolder()],
    { env: { ...PATIENT, JWT_SECRET: secret(), DURATION: '10m' }, detached: true },
  );
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    // The first line: k6 is about to start. A terminal interrupts it, too.
    if (output.stdout === '') setTimeout(() => process.kill(-child.pid!, 'SIGINT'), 5_000);
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });

  const [code] = await once(child, 'close');

  expect(code).toBe(1);
  expect(output.stdout).toMatch(/^smoke: [\d,]+ requests in /m);
  expect(output.stderr).toMatch(/^Cannot finish smoke: it was interrupted \([^\n]+\)\n$/);
}, 60_000);

test('a missed objective ends the program with 1, and is marked in what it prints', () => {
  const args = ['--base', system.target.api.origin, '--out', newFolder()];

  const { status, stdout, stderr } = runProgram(args, {
    JWT_SECRET: secret(),
    DURATION: '3s',
    LATENCY_FACTOR: '0.001',
  });

  expect(status).toBe(1);
  expect(stdout).toMatch(/^✗ GET \/api\/v1\/users .*\n {4}http_req_duration p\(95\)<0\.25: /m);
  expect(stdout).toMatch(/^✓ dropped_iterations count==0: 0$/m);
  expect(stderr).toBe('Objectives were missed: those marked ✗\n');
}, 60_000);

test('what fails is counted, and shown with how often', async () => {
  const server = http.createServer((_, response) => {
    response.writeHead(503, { 'content-type': 'application/problem+json' }).end('{"status":503}');
  });
  const port = await listenAnywhere(server);
  onTestFinished(() => void server.close());

  const said: string[] = [];
  const { outcome } = await runLoad({
    profile: 'smoke',
    base: `http://127.0.0.1:${port}`,
    env: { ...PATIENT, DURATION: '2s', JWT_SECRET: 'x'.repeat(32) },
    out: newFolder(),
    say: (line) => said.push(line),
  });

  expect(outcome).toMatchObject({ ok: false, failed: outcome.requests });
  expect(said).toContainEqual(
    expect.stringMatching(/^\d+ × GET \/api\/v2\/catalog answered 503: \{"status":503\}$/),
  );
}, 60_000);

test.each([
  [
    ['--profile', 'soak'],
    'Cannot run the profile "soak": expected smoke, load, rate-limit, rollout',
  ],
  [['--profile', 'toString'], 'Cannot run the profile "toString": expected smoke'],
  [['--base', 'localhost:8080'], 'BASE is "localhost:8080": expected an address such as http://'],
  [['--base', ''], 'BASE is "": expected an address such as http://localhost:8080'],
  [['--base', 'https://fw.example'], 'Cannot ask for reports at https://fw.example: set TOKEN'],
  [['--speed', '9'], "Unknown option '--speed'"],
])('the program refuses %j in one line', (args, reason) => {
  const { status, stdout, stderr } = runProgram(args);

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain(reason);
});

test('the program says in one line that nobody listens', async () => {
  const base = `http://127.0.0.1:${await freePort()}`;

  const { status, stdout, stderr } = runProgram(['--base', base], { TOKEN: 'any' });

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toBe(
    `Cannot reach ${base}: nobody listens there; start it with "make up", or name another address by BASE\n`,
  );
});

test('the program says in one line that k6 is of another version', () => {
  const folder = newFolder();
  fs.writeFileSync(
    path.join(folder, 'k6'),
    '#!/bin/sh\necho "k6 v0.57.0 (go1.23.6, linux/amd64)"\n',
    {
      mode: 0o755,
    },
  );

  const { status, stderr } = runProgram([], { PATH: folder, TOKEN: 'any' });

  expect(status).toBe(1);
  expect(stderr).toBe(
    `Cannot use ${path.join(folder, 'k6')}: it is "k6 v0.57.0 (go1.23.6, linux/amd64)", expected k6 v2\n`,
  );
});
