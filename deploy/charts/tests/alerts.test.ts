import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { newFolder } from '@fw/service/testing/vitest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { SERVICE_NAMES } from '../../../services/services.ts';
import { ensureTool } from '../../../tools/programs.ts';
import { CASES, DAY, probed, up } from './alert-cases.ts';
import { charts, only, type Rendered, type Values } from './render.ts';
import { merge, SHARED } from './values.ts';

const folder = newFolder('fw-alerts-', afterAll);

const runbookUrl = 'https://docs.example.org/runbook';

function ruleGroups(name: string, values: Values = {}): Rendered['spec'] {
  const prometheusRule = { enabled: true, runbookUrl };
  const metrics = { serviceMonitor: { enabled: true }, prometheusRule };
  const entryProbe = { enabled: true, url: 'https://api.example.org' };
  const objects = charts.render(name, merge(SHARED[name], { metrics, entryProbe }, values));
  return only(objects, 'PrometheusRule').spec;
}

/** The alerts of the edge, which the platform creates. */
function edgeGroups(): Rendered['spec'] {
  const metrics = {
    serviceMonitor: { enabled: true },
    prometheusRule: { enabled: true, runbookUrl },
  };
  return only(charts.render('platform', { global: { metrics } }), 'PrometheusRule', 'fw-edge').spec;
}

beforeAll(() => {
  fs.writeFileSync(path.join(folder, 'edge.yaml'), stringify(edgeGroups()));
  for (const name of SERVICE_NAMES) {
    fs.writeFileSync(path.join(folder, `${name}.yaml`), stringify(ruleGroups(name)));
  }
});

function promtool(...args: readonly string[]) {
  const options = { cwd: folder, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(ensureTool('promtool'), args, options);
  return { status, output: stdout + stderr };
}

test.each(CASES.map((one) => ({ when: one[0], one })))(
  'the expected alerts fire if $when',
  ({ one: [, series, at, fires, service = 'users', interval = '1m'] }) => {
    const file = path.join(folder, 'case.yaml');
    const input = Object.entries({ ...up(service), ...probed(service), ...series });
    const samples = fires.map((labels) => ({ labels: `{${labels}}`, value: 1 }));
    const labels = 'alertname, severity, window, kind, quantile, reason, upstream';
    const expr = `count by (${labels}) (ALERTS{alertstate="firing"})`;
    fs.writeFileSync(
      file,
      stringify({
        rule_files: [`${service}.yaml`],
        // Alerts without a duration need only the last evaluation; one per minute for days is slow.
        evaluation_interval: at < DAY ? '1m' : `${at}m`,
        tests: [
          {
            interval,
            input_series: input.map(([name, values]) => ({ series: name, values })),
            promql_expr_test: [{ expr, eval_time: `${at}m`, exp_samples: samples }],
          },
        ],
      }),
    );

    const { status, output } = promtool('test', 'rules', file);

    expect(status, output).toBe(0);
  },
);

test('every alert fires in at least one case, and links to its section of the runbook', () => {
  const specs = [edgeGroups(), ...SERVICE_NAMES.map((name) => ruleGroups(name))];
  const rules: Rendered[] = specs.flatMap(({ groups }) =>
    groups.flatMap(({ rules: some }: Rendered) => some),
  );
  const alerts = rules.filter(({ alert }) => alert !== undefined);
  const fired = CASES.flatMap(([, , , fires]) => fires.map((one) => /"(\w+)"/.exec(one)?.[1]));

  expect(new Set(fired)).toEqual(new Set(alerts.map(({ alert }) => alert)));
  for (const { alert, annotations } of alerts) {
    expect(annotations.runbook_url).toBe(`${runbookUrl}#${alert.toLowerCase()}`);
  }
});

test('the value slo overrides one number of slo.json', () => {
  const slo = { availability: 0.99, latency: { read: { p99Ms: 1_000 } } };
  const rules = JSON.stringify(ruleGroups('users', { slo }));

  expect(rules).toContain('} > 0.144\\n');
  expect(rules).toContain('read requests take longer than 250 ms');
  expect(rules).toContain('read requests take longer than 1000 ms');
  expect(rules).not.toContain('read requests take longer than 500 ms');
});
