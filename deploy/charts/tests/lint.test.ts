import fs from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { CHARTS } from '../folder.ts';
import { generatedFiles } from '../generate.ts';
import { charts, only, type Rendered, SHARED } from './render.ts';
import { EXCEPTIONS, findingsOf } from './score.ts';

test.each(SERVICE_NAMES)('helm lint --strict accepts %s', (chart) => {
  const { status, stdout } = charts.helm(
    ['lint', '--strict', chart, '--values', '-'],
    SHARED[chart],
  );

  expect(stdout).not.toMatch(/\[(WARNING|ERROR)\]/);
  expect(status).toBe(0);
});

test('kube-score finds only the explained exceptions in the charts', () => {
  const scores = SERVICE_NAMES.map((chart) =>
    findingsOf(
      charts
        .render(chart, SHARED[chart])
        .map((one) => stringify(one))
        .join('---\n'),
    ),
  );

  expect(scores.flatMap(({ findings }) => findings)).toEqual([]);
  // An unused exception would hide the next finding.
  expect(new Set(scores.flatMap(({ excepted }) => [...excepted]))).toEqual(
    new Set(Object.keys(EXCEPTIONS)),
  );
});

test.each([...SERVICE_NAMES, 'platform'])(
  '%s is refused by a Kubernetes that lacks what it needs',
  (chart) => {
    const on = (version: string) =>
      charts.helm(['template', 'fw', chart, '--kube-version', version]);

    expect(on('1.29.9').stderr).toContain(
      'chart requires kubeVersion: >=1.30.0-0 which is incompatible with Kubernetes v1.29.9',
    );
    expect(on('1.30.0').stderr).not.toContain('kubeVersion');
  },
);

test('all charts have the same version and a description', () => {
  const aboutOf = (chart: string) =>
    parse(fs.readFileSync(path.join(CHARTS, chart, 'Chart.yaml'), 'utf8'));
  const { version } = aboutOf('common');

  for (const chart of [...SERVICE_NAMES, 'platform', 'common']) {
    const { dependencies = [], ...about } = aboutOf(chart);
    expect(about, chart).toMatchObject({ name: chart, version, appVersion: version });
    expect(about.description).toMatch(/^\w.*[^.]$/);
    for (const one of dependencies) expect(one.version, `${chart} needs ${one.name}`).toBe(version);
  }
});

test('the generated files are up to date', () => {
  for (const [file, text] of Object.entries(generatedFiles())) {
    const committed = fs.readFileSync(path.join(CHARTS, file), 'utf8');
    expect(committed, `${file}: run "make charts"`).toBe(text);
  }
});

describe('the Deployments differ only in settings of the service', () => {
  /** The Deployment without the settings that differ between services. */
  function commonPart(chart: string): unknown {
    const deployment = only(charts.render(chart, SHARED[chart]), 'Deployment');
    const template = structuredClone(deployment.spec.template);
    // Labels for the services that it calls.
    for (const name of SERVICE_NAMES) delete template.metadata.labels[`fw/calls-${name}`];
    for (const checksum of ['config', 'secrets']) {
      delete template.metadata.annotations[`checksum/${checksum}`];
    }
    // Only services with a store have migrations.
    delete template.spec.initContainers;
    // Secrets differ.
    const ownSecrets = ({ name }: { name: string }) => name.endsWith('_FILE');
    const [container] = template.spec.containers;
    container.env = container.env.filter((variable: { name: string }) => !ownSecrets(variable));
    template.spec.volumes[0].projected.sources = [];
    return JSON.parse(
      JSON.stringify({ ...deployment, spec: { ...deployment.spec, template } }).replaceAll(
        chart,
        'SERVICE',
      ),
    );
  }

  test.each(SERVICE_NAMES)('users and %s', (chart) => {
    expect(commonPart(chart)).toEqual(commonPart('users'));
  });

  test('the migrations of users and catalog', () => {
    const [users, catalog] = ['users', 'catalog'].map((chart) => {
      const [migrate] = only(charts.render(chart, SHARED[chart]), 'Deployment').spec.template.spec
        .initContainers as Rendered[];
      return JSON.stringify(migrate).replaceAll(chart, 'SERVICE');
    });

    expect(users).toBe(catalog);
  });
});
