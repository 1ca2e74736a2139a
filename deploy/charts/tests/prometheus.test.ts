import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';

import { SERVICE_NAMES, type ServiceName, serviceOf } from '../../../services/services.ts';
import { ensureTool } from '../../../tools/programs.ts';
import { runLoad } from '../../k6/run.ts';
import { replicasOf } from '../../local/processes/system.ts';
import { freePort } from '../../local/testing/ports.ts';
import { startProgram } from '../../local/testing/program.ts';
import { startTrialStores } from '../../local/testing/trial-stores.ts';
import { startTrialSystem } from '../../local/testing/trial-system.ts';
import { charts, only, type Rendered } from './render.ts';
import { EVERYTHING, merge, SHARED } from './values.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const stack = new AsyncDisposableStack();
const objectsOf = (name: string) => charts.render(name, merge(SHARED[name], EVERYTHING));
let origin: string;

/** The system on shared stores, with the labels of a cluster, after a short load. */
beforeAll(async () => {
  const programs = { k6: ensureTool('k6'), prometheus: ensureTool('prometheus') };
  const stores = await startTrialStores();
  stack.defer(stores.stop);
  const system = await startTrialSystem(stores.variables);
  stack.defer(() => system.stop());

  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-prometheus-'));
  stack.defer(() => fs.rmSync(folder, { recursive: true }));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules-*.yaml'],
    scrape_configs: [
      {
        job_name: 'pods',
        static_configs: replicasOf(system.port).map(({ name, service, healthPort }) => ({
          targets: [`127.0.0.1:${healthPort}`],
          labels: { namespace: 'trial', service: `fw-${service}-metrics`, pod: name },
        })),
      },
    ],
  };
  fs.writeFileSync(path.join(folder, 'prometheus.yaml'), stringify(config));
  for (const name of SERVICE_NAMES) {
    const { spec } = only(objectsOf(name), 'PrometheusRule');
    fs.writeFileSync(path.join(folder, `rules-${name}.yaml`), stringify(spec));
  }
  const address = `127.0.0.1:${await freePort()}`;
  origin = `http://${address}`;
  const args = ['--config.file=prometheus.yaml', '--storage.tsdb.path=data', '--log.level=error'];
  const prometheus = await startProgram(
    [programs.prometheus, ...args, `--web.listen-address=${address}`],
    { cwd: folder, ready: `${origin}/-/ready` },
  );
  stack.defer(() => prometheus.stop());
  await runLoad({
    ...{ profile: 'smoke', base: system.origin, run: system.folders.run, out: folder },
    env: { ...process.env, DURATION: '8s', LATENCY_FACTOR: '100' },
    print() {},
  });
});

afterAll(() => stack.disposeAsync());

/** Whether a query has a result with a value. */
async function hasValue(expr: string): Promise<boolean> {
  const query = expr.replaceAll('$__rate_interval', '1m');
  const body = new URLSearchParams({ query });
  const response = await fetch(`${origin}/api/v1/query`, { method: 'POST', body });
  const { error, data } = JSON.parse(await response.text());
  if (error !== undefined) throw new Error(`${error}: ${query}`);
  return data.result.some(({ value: [, text] }: Rendered) => text !== 'NaN');
}

/** The queries without a value. */
async function emptyOf(exprs: readonly string[]): Promise<string[]> {
  const results = await Promise.all(exprs.map(hasValue));
  return exprs.filter((_, index) => !results[index]);
}

/** Whether a query is about a database or rate limits, which some services do not have. */
function lacks(name: ServiceName, expr: string): boolean {
  const other = serviceOf(name).store === 'database' ? /rate_limit/ : /db_pool|check="store"/;
  return other.test(expr);
}

test.each(SERVICE_NAMES)('every rule of %s returns data', async (name) => {
  const { groups } = only(objectsOf(name), 'PrometheusRule').spec;
  // The queries for blackbox exporter are tested on a cluster (tests/cluster/entry.test.ts).
  const rules: Rendered[] = groups
    .filter(({ name: group }: Rendered) => !group.endsWith('-entry'))
    .flatMap(({ rules: some }: Rendered) => some)
    .filter(({ expr }: Rendered) => !lacks(name, expr));
  // Without "bool", a comparison has no result while the alert is silent.
  const exprs = rules.map(({ expr }) => expr.replaceAll(/ (==|>=|>) /g, ' $1 bool '));

  await expect.poll(() => emptyOf(exprs), { timeout: 120_000, interval: 1_000 }).toEqual([]);
});

test.each(SERVICE_NAMES)('every query of the dashboard of %s returns data', async (name) => {
  const { data } = only(objectsOf(name), 'ConfigMap', `fw-${name}-dashboard`);
  const { panels, annotations, templating } = JSON.parse(data[`trial-fw-${name}.json`]);
  const variables: Readonly<Record<string, string>> = Object.fromEntries(
    templating.list.map((one: Rendered) => [one.name, one.current?.value]),
  );
  const targets: Rendered[] = [
    ...panels.flatMap((panel: Rendered) => panel.targets),
    ...annotations.list,
  ];
  const exprs = targets
    .filter(({ expr }) => !lacks(name, expr))
    .map(({ expr }) =>
      // A test is shorter than a minute on a fast machine, and longer on a slow one.
      expr
        .replace(/\$(namespace|service)/g, (_: string, key: string) => variables[key])
        .replace('offset 1m', 'offset 1h')
        .replace('[30d:5m]', '[1m:1s]'),
    );

  expect(variables).toMatchObject({ namespace: 'trial', service: `fw-${name}` });
  await expect.poll(() => emptyOf(exprs), { timeout: 120_000, interval: 1_000 }).toEqual([]);
});
