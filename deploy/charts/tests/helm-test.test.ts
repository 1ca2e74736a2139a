import { execFile } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { freePort } from '../../local/testing/ports.ts';
import { startTrialSystem, type TrialSystem } from '../../local/testing/trial-system.ts';
import { secretFile } from '../../local/token.ts';
import { charts, NEEDED, only } from './render.ts';

let system: TrialSystem;
beforeAll(async () => {
  system = await startTrialSystem();
});
afterAll(() => system.stop());

/** Runs the program of a chart's test pod with this machine's Node, against the service at `base`. */
async function runTestPod(chart: string, base: string, variables: NodeJS.ProcessEnv = {}) {
  const secret = secretFile(system.folders.run);
  const [container] = only(charts.render(chart, NEEDED[chart]), 'Pod').spec.containers;
  const [, ...args]: string[] = container.command;
  const given: NodeJS.ProcessEnv = Object.fromEntries(
    container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  );
  const env = {
    ...{ ...given, BASE: base },
    ...(given.JWT_SECRET_FILE && { JWT_SECRET_FILE: secret }),
    ...variables,
  };
  const allowed = args.map((arg) =>
    arg.startsWith('--allow-fs-read=') ? `--allow-fs-read=${path.dirname(secret)}` : arg,
  );
  return (await promisify(execFile)(process.execPath, allowed, { env })).stdout.trimEnd();
}

test.each([
  ['users', 'POST /api/v2/users: 201', 5],
  ['catalog', 'GET /api/v2/catalog?limit=1: 200', 4],
  ['reports', 'GET /api/v2/reports: 401', 4],
])('helm test of %s passes with a running service', async (chart, first, calls) => {
  const lines = (await runTestPod(chart, system.origin)).split('\n');

  expect(lines).toHaveLength(calls);
  expect(lines[0]).toBe(first);
});

test('a trial repeats the checks', async () => {
  const output = await runTestPod('users', system.origin, { TRIAL_SECONDS: '2' });

  expect(output).toBe('11 checks passed');
});

test('helm test names the request that got a wrong response', async () => {
  const base = `${system.origin}/page`;

  await expect(runTestPod('catalog', base)).rejects.toThrow(`GET ${base}/api/v2/catalog?limit=1`);
});

test('helm test retries until the network of every node is ready', async () => {
  const port = await freePort();
  const running = runTestPod('catalog', `http://127.0.0.1:${port}`);
  let isRunning = true;
  const end = running.finally(() => {
    isRunning = false;
  });

  // Each server responds to one request; then there is none for a moment.
  while (isRunning) {
    const server = http.createServer(async ({ url = '' }, response) => {
      const upstream = await fetch(system.origin + url);
      response.writeHead(upstream.status, { connection: 'close' }).end(await upstream.text());
    });
    await Promise.race([once(server.listen(port, '127.0.0.1'), 'request'), end]);
    server.close();
    await sleep(300);
  }

  expect(await running).toContain('GET /api/v2/catalog?limit=nonsense: 400');
});
