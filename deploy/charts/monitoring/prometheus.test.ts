import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { startPostgres } from '@fw/service/testing/postgres';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { startRedisServer } from '../../../framework/rate-limit/src/testing/redis-server.ts';
import { SERVICE_NAMES } from '../../../services/services.ts';
import { ensureTool } from '../../../tools/programs.ts';
import { runLoad } from '../../k6/run.ts';
import { replicasOf } from '../../local/processes/system.ts';
import { startTrialSystem, type TrialSystem } from '../../local/testing/trial-system.ts';
import { charts, EVERYTHING, only, type Rendered, SHARED } from '../tests/render.ts';
import { type Prometheus, startPrometheus } from './testing/prometheus.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const RUNBOOK = path.join(import.meta.dirname, '../../../docs/operations/runbook.md');

const stack = new AsyncDisposableStack();
const objectsOf = (name: string) => charts.render(name, { ...SHARED[name], ...EVERYTHING });
let system: TrialSystem;
let prometheus: Prometheus;

/** The system on shared stores, with the labels of a cluster, after a short load. */
beforeAll(async () => {
  ensureTool('k6');
  const [postgres, redis] = await Promise.all([startPostgres(), startRedisServer()]);
  stack.defer(async () => void (await Promise.all([postgres.stop(), redis.stop()])));
  system = await startTrialSystem({ DATABASE_URL: postgres.url, REDIS_URL: redis.url });
  stack.defer(() => system.stop());
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-prometheus-'));
  stack.defer(() => fs.rmSync(folder, { recursive: true }));
  prometheus = await startPrometheus(folder, {
    targets: replicasOf(system.port).map(({ name, service, healthPort }) => ({
      address: `127.0.0.1:${healthPort}`,
      labels: { namespace: 'trial', service: `fw-${service}-metrics`, pod: name },
    })),
    rules: SERVICE_NAMES.map((name) => only(objectsOf(name), 'PrometheusRule').spec),
  });
  stack.defer(() => prometheus.stop());
  await runLoad({
    profile: 'smoke',
    base: system.origin,
    run: system.folders.run,
    out: folder,
    env: { PATH: process.env.PATH, DURATION: '8s', LATENCY_FACTOR: '100' },
    print() {},
  });
});

afterAll(() => stack.disposeAsync());

/** The names of labels in a result with a value. */
async function labelsOf(expr: string): Promise<string[]> {
  const samples = await prometheus.query(expr.replaceAll('$__rate_interval', '1m'));
  return samples
    .filter(({ value: [, text] }) => text !== 'NaN')
    .flatMap(({ metric }) => ['', ...Object.keys(metric)]);
}

/** The queries without a value. */
async function emptyOf(exprs: readonly string[]): Promise<string[]> {
  const results = await Promise.all(
    exprs.map(async (expr) => ((await labelsOf(expr)).length > 0 ? [] : [expr])),
  );
  return results.flat();
}

test.each(SERVICE_NAMES)('every rule of %s returns data', async (name) => {
  const rules: Rendered[] = only(objectsOf(name), 'PrometheusRule').spec.groups.flatMap(
    ({ rules: some }: Rendered) => some,
  );
  // Without "bool", a comparison has no result while the alert is silent.
  const exprs = rules.map(({ expr }) => expr.replaceAll(/ (==|>=|>) /g, ' $1 bool '));

  await expect.poll(() => emptyOf(exprs), { timeout: 120_000, interval: 1_000 }).toEqual([]);
});

test.each(SERVICE_NAMES)('every query of the dashboard of %s returns data', async (name) => {
  const { data } = only(objectsOf(name), 'ConfigMap', `fw-${name}-dashboard`);
  const dashboard = JSON.parse(data[`fw-${name}.json`]);
  const targets: Rendered[] = dashboard.panels.flatMap((panel: Rendered) => panel.targets);
  const queries = [
    ...targets.map(({ expr, legendFormat }) => ({ expr, legend: legendFormat })),
    ...dashboard.annotations.list.map((one: Rendered) => ({
      // A test is shorter than a minute on a fast machine, and longer on a slow one.
      expr: one.expr.replace('offset 1m', 'offset 1h'),
      legend: one.textFormat,
    })),
  ];

  const exprs = queries.map(({ expr }) => expr);
  await expect.poll(() => emptyOf(exprs), { timeout: 120_000, interval: 1_000 }).toEqual([]);
  for (const { expr, legend } of queries) {
    const labels = await labelsOf(expr);
    for (const [, label] of legend.matchAll(/\{\{(\w+)\}\}/g)) {
      expect(labels, expr).toContain(label);
    }
  }
});

test('the commands of the runbook return data', async () => {
  const blocks = fs.readFileSync(RUNBOOK, 'utf8').matchAll(/^```sh\n(.*?)^```/gms);
  const [onCluster = '', onMachine = '', ...others] = [...blocks].map(([, block = '']) => block);
  const settings = `${onCluster}${onMachine}
PROMETHEUS=${prometheus.origin}`;
  const commands = others.flatMap((block) => block.trimEnd().split('\n'));

  for (const command of commands) {
    // Only reports has rate limits.
    const service = command.includes('rate_limit') ? 'reports' : 'users';
    const series = `SERIES='namespace="trial",service="fw-${service}-metrics"'`;
    const script = ['-c', `${settings}\n${series}\n${command}`];
    const { stdout, stderr } = await promisify(execFile)('bash', script, {
      cwd: system.folders.root,
    });
    expect(stderr, command).toBe('');
    // A log without errors has no such lines.
    if (!command.includes('grep')) expect(stdout, command).not.toBe('');
  }

  expect(commands.length).toBeGreaterThan(10);
});
