import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { newFolder } from '@fw/service/testing/vitest';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SERVICES } from '../../services/services.ts';
import { ensureTool } from '../../tools/programs.ts';
import { freePort, listenAnywhere } from '../local/testing/ports.ts';
import { startTrialSystem, type TrialSystem } from '../local/testing/trial-system.ts';
import { secretFile } from '../local/token.ts';
import { runLoad } from './run.ts';

const PROGRAM = path.join(import.meta.dirname, 'run.ts');
const ROOT = path.resolve(import.meta.dirname, '../..');

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

/** Runs a profile against the system; returns the result, the output, and k6's metrics. */
async function run(profile: string, env: Readonly<Record<string, string>>, base = system.origin) {
  const out = newFolder('fw-load-');
  let output = '';
  const result = await runLoad({
    profile,
    base,
    env: { ...TOLERANT, JWT_SECRET: base === system.origin ? '' : 'x'.repeat(32), ...env },
    run: system.folders.run,
    out,
    print: (text) => {
      output += text;
    },
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

function secret(): string {
  return fs.readFileSync(secretFile(system.folders.run), 'utf8').trim();
}

test('smoke finds the secret of a local system and sends every request of each slo.json', async () => {
  const { output, metrics, out, ...result } = await run('smoke', { DURATION: '4s' });

  expect(result, output).toMatchObject({ ok: true, failed: 0, dropped: 0 });
  for (const { name } of SERVICES) {
    const file = path.join(import.meta.dirname, `../charts/${name}/files/slo.json`);
    for (const kind of fs.readFileSync(file, 'utf8').match(/[A-Z]+ \/api\/[^"]+/g) ?? []) {
      expect(metrics[`http_req_duration{name:${kind}}`]?.med, kind).toBeGreaterThan(0);
    }
  }
  expect(metrics.checks.value).toBe(1);
  expect(output).toMatch(/^Report: .*smoke\.html$/m);
  expect(fs.readFileSync(path.join(out, 'smoke.html'), 'utf8')).toContain('<html');
});

test.each(['smoke', 'rollout', 'breakpoint'])(
  '%s sends a token to each service of a system with AUTH=required',
  async (profile) => {
    await system.up({ AUTH: 'required' });
    onTestFinished(() => system.up());
    expect((await fetch(`${system.origin}/api/v1/users`)).status).toBe(401);

    const { output, ...result } = await run(profile, { DURATION: '3s', RATE: '5' });

    expect(result, output).toMatchObject({ ok: true, failed: 0 });
  },
);

test('rollout reads from every version of every service, and LEDGER logs each user', async () => {
  const { output, metrics, log, stream, ...result } = await run('rollout', {
    ...{ DURATION: '4s', RATE: '40', LEDGER: '1' },
  });

  expect(result, output).toMatchObject({ ok: true, failed: 0, dropped: 0 });
  for (const { name, versions } of SERVICES) {
    for (const version of versions) {
      const kind = `http_req_duration{name:GET /api/${version}/${name}}`;
      expect(metrics[kind]?.med, kind).toBeGreaterThan(0);
    }
  }
  const ledger = fs
    .readFileSync(log, 'utf8')
    .match(/ msg="created \S+ load-\S+@example.org Load /g);
  expect(stream).toEqual({ lost: 0, creations: ledger?.length, created: ledger?.length });
  expect(stream.created).toBeGreaterThan(10);
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
  const env = { DURATION: '2s', RATE: '10', RETRY_SECONDS: '9' };

  const { stream } = await run('rollout', env, base);

  const keys = [...attempts].filter(([key]) => !String(key).startsWith('/'));
  expect(stream).toEqual({ lost: 0, creations: keys.length, created: keys.length });
  expect(keys.length).toBeGreaterThan(5);
  expect(keys.map(([, count]) => count)).toEqual(keys.map(() => 2));
});

test('rate-limit: of 300 simultaneous requests of one user, 100 pass and 200 get 429', async () => {
  const { output, metrics, ...result } = await run('rate-limit', {});

  expect(result, output).toMatchObject({ ok: true, requests: 300, failed: 0 });
  expect(metrics).toMatchObject({
    requests_passed: { count: 100 },
    requests_limited: { count: 200 },
  });
});

test('breakpoint prints the capacity', async () => {
  // So few that a busy machine starts each of them in time.
  const { output, ...result } = await run('breakpoint', { DURATION: '2s', RATE: '5' });

  expect(result, output).toMatchObject({ ok: true, failed: 0 });
  expect(output).toContain('Capacity: 5 requests per second or more: set a higher RATE\n');
});

test('breakpoint with SERVICE sends only the requests of that service', async () => {
  const paths = new Set<string>();
  const base = await startServer((request, response) => {
    if (request.method !== 'HEAD') paths.add(String(request.url).replace(/\?.*/, ''));
    response.end('{}');
  });

  await run('breakpoint', { DURATION: '2s', RATE: '5', SERVICE: 'catalog' }, base);

  expect([...paths].sort()).toEqual([
    ...['/api/v1/catalog', '/api/v2/catalog', '/api/v2/catalog/facets'],
  ]);
});

test('spike expects 503 with Retry-After during the overload', async () => {
  let count = 0;
  const base = await startServer((request, response) => {
    count += 1;
    // Of about 11 requests before the overload, 80 during it, and 20 after it.
    if (count > 30 && count < 70) response.writeHead(503, { 'retry-after': '1' }).end();
    else response.writeHead(request.method === 'POST' ? 201 : 200).end('{"data":{"id":"1"}}');
  });

  const { output, ...result } = await run('spike', { DURATION: '4s', RATE: '20' }, base);

  expect(result, output).toMatchObject({ ok: true, failed: 0 });
});

test('a missed threshold is marked in the output and makes the program exit with 1', () => {
  const { status, stdout, stderr } = runProgram(
    ['--base', system.origin, '--out', newFolder('fw-load-')],
    {
      ...{ JWT_SECRET: secret(), DURATION: '3s', LATENCY_FACTOR: '0.001' },
    },
  );

  expect(status).toBe(1);
  expect(stdout).toMatch(/^ +http_req_duration\{name:GET \/api\/v1\/users\}\n +✗ 'p\(95\)<0\.25'/m);
  expect(stderr).toBe('Thresholds were missed: those marked ✗\n');
});

test('failed requests are counted, and the first are printed', async () => {
  const base = await startServer((_, response) => {
    response.writeHead(503, { 'content-type': 'application/problem+json' }).end('{"status":503}');
  });

  const { output, ...result } = await run('smoke', { DURATION: '2s' }, base);

  expect(result).toMatchObject({ ok: false, failed: result.requests });
  expect(output).toMatch(/(?:GET|POST) \/api\/v[12]\/\S+: status 503: \{\\"status\\":503\}/);
});

test('the scripts run in a folder whose path contains a space, a non-ASCII letter, "%" and "#"', async () => {
  const root = path.join(newFolder('fw-load-'), 'a ü 100% #1');
  for (const name of ['deploy/k6', 'deploy/charts', 'services']) {
    fs.cpSync(path.join(ROOT, name), path.join(root, name), { recursive: true });
  }
  const script = path.join(root, 'deploy/k6/smoke.ts');

  const { status, stderr } = spawnSync('k6', ['inspect', '--quiet', script], {
    env: { ...MACHINE, BASE: system.origin, TOKEN: 'any' },
    encoding: 'utf8',
  });

  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test.each([
  ['smoke', { DURATION: '10' }, 'DURATION is \\"10\\": expected a form such as'],
  ['rollout', { RATE: '0.5' }, 'RATE is \\"0.5\\": expected a whole number from 1 to 10000'],
  ['load', { LATENCY_FACTOR: '-1' }, 'LATENCY_FACTOR is \\"-1\\": expected a number above 0'],
])('%s rejects %j with the exit code and the last lines of the log', (profile, env, message) => {
  const out = newFolder('fw-load-');
  const args = ['--profile', profile, '--base', system.origin, '--out', out];

  const { status, stderr } = runProgram(args, { JWT_SECRET: secret(), ...env });

  expect(status).toBe(1);
  const [first, title, ...lines] = stderr.trimEnd().split('\n');
  expect(first).toMatch(`Cannot finish ${profile}: k6 exited with code 10`);
  expect(title).toBe(`Last lines of ${path.relative('', path.join(out, `${profile}.log`))}:`);
  expect(lines.at(-1)).toContain(message);
});

/** Starts a server on a free port; returns its origin. */
async function startServer(respond: http.RequestListener): Promise<string> {
  const server = http.createServer(respond);
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await listenAnywhere(server)}`;
}

test.each([
  [
    ['--profile', 'fast'],
    'PROFILE is "fast": expected breakpoint, load, rate-limit, rollout, smoke',
  ],
  [['--base', 'localhost:8080'], 'BASE is "localhost:8080": expected an address such as http://'],
  [['--base', 'https://fw.example'], 'Cannot request reports from https://fw.example: set TOKEN'],
  [['--speed', '9'], "Unknown option '--speed'"],
])('the check of %j fails with one line, before k6 is needed', (args, reason) => {
  const { status, stdout, stderr } = runProgram(['--check', ...args]);

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain(reason);
});

test('the program prints one line if no server listens at BASE', async () => {
  const address = `127.0.0.1:${await freePort()}`;

  const { status, stdout, stderr } = runProgram(['--base', `http://${address}`], { TOKEN: 'any' });

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toBe(
    `Cannot reach http://${address} (Error: connect ECONNREFUSED ${address}): ` +
      'start the system with "make up" or set BASE\n',
  );
});
