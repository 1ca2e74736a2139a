import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
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
import { EVERYTHING, merge, SHARED, SHOP } from './values.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const stack = new AsyncDisposableStack();
const POLL = { timeout: 120_000, interval: 1_000 };
let origin: string;

/** The objects of a service; `shop` uses no package of this repository. */
function objectsOf(name: string): Rendered[] {
  if (name !== 'shop') return charts.render(name, merge(SHARED[name], EVERYTHING));
  const slo = { latency: { read: { requests: ['GET /items'] } } };
  return charts.render('common', merge(SHOP, { nameOverride: name, slo }));
}

/** Serves only the metrics that the chart `common` requires; returns the port. */
async function startShop(): Promise<number> {
  let requests = 0;
  const server = http.createServer((_, response) => {
    requests += 10;
    const lines: string[] = [];
    for (const [status, share] of Object.entries({ 200: 0.9, 503: 0.1 })) {
      const labels = `http_request_method="GET",http_route="/items",http_response_status_code="${status}"`;
      const count = requests * share;
      for (const le of ['0.25', '0.5', '+Inf']) {
        lines.push(`http_server_request_duration_seconds_bucket{${labels},le="${le}"} ${count}`);
      }
      lines.push(`http_server_request_duration_seconds_sum{${labels}} ${count / 10}`);
      lines.push(`http_server_request_duration_seconds_count{${labels}} ${count}`);
    }
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(`${lines.join('\n')}\n`);
  });
  stack.defer(() => void server.close());
  const port = await freePort();
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return port;
}

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
        static_configs: [
          ...replicasOf(system.port),
          { name: 'shop-1', service: 'shop', healthPort: await startShop() },
        ].map(({ name, service, healthPort }) => ({
          targets: [`127.0.0.1:${healthPort}`],
          labels: { namespace: 'trial', service: `fw-${service}-metrics`, pod: name },
        })),
      },
    ],
  };
  fs.writeFileSync(path.join(folder, 'prometheus.yaml'), stringify(config));
  for (const name of [...SERVICE_NAMES, 'shop']) {
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
  const other = serviceOf(name).store === 'database' ? /rate_limit/ : /db_client|check="store"/;
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

  await expect.poll(() => emptyOf(exprs), POLL).toEqual([]);
});

/** The queries of the dashboard of a service: for its variables, each panel, and the marks of releases. */
function dashboardOf(name: string) {
  const { data } = only(objectsOf(name), 'ConfigMap', `fw-${name}-dashboard`);
  const { panels, annotations, templating } = JSON.parse(data[`trial-fw-${name}.json`]);
  const variables: Readonly<Record<string, string>> = Object.fromEntries(
    templating.list.map((one: Rendered) => [one.name, one.current?.value]),
  );
  expect(variables).toMatchObject({ namespace: 'trial', service: `fw-${name}` });
  // A test is shorter than a minute on a fast machine, and longer on a slow one.
  const prepare = ({ expr }: { readonly expr: string }) =>
    expr
      .replace(/\$(namespace|service)/g, (_, key: string) => variables[key] ?? '')
      .replace('offset 1m', 'offset 1h')
      .replace('[30d:5m]', '[1m:1s]');
  return {
    pickers: templating.list
      .flatMap(({ query }: Rendered) => /^label_values\((.+), \w+\)$/.exec(query)?.[1] ?? [])
      // Only series of this service have its name in the list.
      .map((expr: string) => prepare({ expr: `${expr} and {service="fw-${name}-metrics"}` })),
    panels: panels.map((panel: Rendered) => panel.targets.map(prepare)),
    marks: annotations.list.map(prepare),
  };
}

test.each(SERVICE_NAMES)('every query of the dashboard of %s returns data', async (name) => {
  const { pickers, panels, marks } = dashboardOf(name);
  const exprs: string[] = [...pickers, ...panels.flat(), ...marks];

  await expect.poll(() => emptyOf(exprs.filter((expr) => !lacks(name, expr))), POLL).toEqual([]);
});

test('the first panels show a service with the two required metrics only', async () => {
  const { pickers, panels } = dashboardOf('shop');
  const requests: string[] = panels.slice(0, 4).flat();
  const objectives: string[] = panels.slice(4, 6).flat();
  const exprs = [
    ...pickers,
    // Each status is in a class, and the 503 count as failures.
    ...requests.map((expr) => `(${expr}) > 0`),
    ...objectives.filter((expr) => !expr.includes('rate_limit')),
  ];

  expect(pickers).toHaveLength(2);
  await expect.poll(() => emptyOf(exprs), POLL).toEqual([]);
});
