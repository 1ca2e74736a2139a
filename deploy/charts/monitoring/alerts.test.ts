import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { ensureTool } from '../../../tools/programs.ts';
import { charts, only, SHARED } from '../tests/render.ts';
import { CASES } from './testing/alert-cases.ts';
import { DAY, up } from './testing/series.ts';

const RUNBOOK = path.join(import.meta.dirname, '../../../docs/operations/runbook.md');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-alerts-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

beforeAll(() => {
  for (const name of SERVICE_NAMES) {
    const metrics = { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } };
    const { spec } = only(charts.render(name, { ...SHARED[name], metrics }), 'PrometheusRule');
    fs.writeFileSync(path.join(folder, `${name}.yaml`), stringify(spec));
  }
});

function promtool(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(ensureTool('promtool'), args, {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

test.each(SERVICE_NAMES)('promtool accepts the rules of %s', (name) => {
  expect(promtool('check', 'rules', '--lint=all', '--lint-fatal', `${name}.yaml`)).toMatchObject({
    status: 0,
  });
});

test.each(CASES)(
  'the expected alerts fire if $when',
  ({ service = 'users', series, at, fires }) => {
    const file = path.join(folder, 'case.yaml');
    const input = Object.entries({ ...up(service), ...series });
    const samples = fires.map((labels) => ({ labels: `{${labels}}`, value: 1 }));
    const labels = 'alertname, severity, window, kind, quantile, reason';
    const expr = `count by (${labels}) (ALERTS{alertstate="firing"})`;
    fs.writeFileSync(
      file,
      stringify({
        rule_files: [`${service}.yaml`],
        // Alerts without a duration need only the last evaluation; one per minute for days is slow.
        evaluation_interval: at < DAY ? '1m' : `${at}m`,
        tests: [
          {
            interval: '1m',
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

/** The names of all alerts. */
const alerts = new Set<string>();
beforeAll(() => {
  for (const name of SERVICE_NAMES) {
    const text = fs.readFileSync(path.join(folder, `${name}.yaml`), 'utf8');
    for (const [, alert = ''] of text.matchAll(/alert: (\w+)/g)) alerts.add(alert);
  }
});

test('every alert fires in at least one case', () => {
  const fired = CASES.flatMap(({ fires }) => fires.map((labels) => /"(\w+)"/.exec(labels)?.[1]));

  expect(new Set(fired)).toEqual(alerts);
});

test('the runbook has one section per alert', () => {
  const runbook = fs.readFileSync(RUNBOOK, 'utf8');
  const sections = runbook.split(/^## /m).slice(1);

  expect(sections.map((section) => section.split('\n')[0]).toSorted()).toEqual(
    [...alerts].toSorted(),
  );
  for (const section of sections) {
    for (const part of ['Meaning', 'Diagnosis', 'Action'])
      expect(section).toContain(`**${part}.**`);
  }
});
