import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startTrialSystem, type TrialSystem } from '../../local/testing/trial-system.ts';
import { secretFile } from '../../local/token.ts';
import { charts, NEEDED, only } from './render.ts';

let system: TrialSystem;

beforeAll(async () => {
  system = await startTrialSystem();
});

afterAll(() => system.stop());

/** Runs the program of a chart's test pod in this machine's Node, against a running system. */
async function runTestPod(
  chart: string,
  base: string,
  secret: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [container] = only(charts.render(chart, NEEDED[chart]), 'Pod').spec.containers;
  const [, ...args]: string[] = container.command;
  const given = Object.fromEntries(
    container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  );
  const env = {
    ...given,
    BASE: base,
    ...(given.JWT_SECRET_FILE && { JWT_SECRET_FILE: secret }),
    ...variables,
  };
  const allowed = args.map((arg) =>
    arg.startsWith('--allow-fs-read=') ? `--allow-fs-read=${path.dirname(secret)}` : arg,
  );
  const { stdout } = await promisify(execFile)(process.execPath, allowed, { env });
  return stdout;
}

test.each([
  ['users', ['POST', '201'], 5],
  ['catalog', ['GET', '200'], 4],
  ['reports', ['GET', '401'], 4],
])('helm test of %s passes with a running service', async (chart, first, calls) => {
  const { folders, port } = system;

  const lines = (
    await runTestPod(chart, `http://127.0.0.1:${port}`, secretFile(folders.run))
  ).trimEnd();

  expect(lines.split('\n')).toHaveLength(calls);
  for (const word of first) expect(lines.split('\n')[0]).toContain(word);
});

test.each(['users', 'catalog', 'reports'])('a trial of %s repeats the checks', async (chart) => {
  const { folders, port } = system;
  const base = `http://127.0.0.1:${port}`;

  const lines = await runTestPod(chart, base, secretFile(folders.run), { TRIAL_SECONDS: '2' });

  expect(lines).toBe('11 checks passed\n');
});

test('helm test names the request that got a wrong response', async () => {
  const { folders, port } = system;
  const base = `http://127.0.0.1:${port}/page`;

  await expect(runTestPod('catalog', base, secretFile(folders.run))).rejects.toThrow(
    `GET ${base}/api/v2/catalog?limit=1`,
  );
});
