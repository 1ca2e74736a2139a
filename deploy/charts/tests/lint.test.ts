import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { newFolder } from '@fw/service/testing/vitest';
import { afterAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { SERVICE_NAMES } from '../../../services/services.ts';
import { ensureTool } from '../../../tools/programs.ts';
import { charts, type Rendered } from './render.ts';
import { NEEDED, PRODUCTION, SETS, SHARED, SHOP } from './values.ts';

const folder = newFolder('fw-charts-', afterAll);

/** What kube-score finds in the charts, with the reason. */
const EXPLAINED: Readonly<Record<string, string>> = {
  'container-image-pull-policy': 'A version is always the same image.',
  'container-security-context-user-group-id':
    'Images set the user. Clusters that assign user ids reject pods with another one.',
  'deployment-has-host-podantiaffinity':
    'Topology spread constraints do the same, and allow two pods on the last node.',
  'deployment-replicas: fw-valkey': 'The bundled Valkey is one server, for trials.',
  'deployment-strategy: fw-valkey': 'Two servers would count separately.',
  'pod-probes-identical: fw-edge': 'The page is all that nginx serves by itself.',
  'statefulset-has-servicename: fw-postgres':
    'A headless Service would resolve to the address of a pod, which clients may cache.',
};

interface Scored {
  readonly object_name: string;
  readonly checks: readonly {
    readonly check: { readonly id: string };
    readonly grade: number;
    readonly skipped: boolean;
  }[];
}

/** What kube-score finds, as in `EXPLAINED`. */
function score(objects: readonly Rendered[]): string[] {
  const input = objects.map((one) => stringify(one, { version: '1.1' })).join('---\n');

  // A CPU limit would slow a pod down even if its node has free CPU time.
  const args = ['score', '--output-format', 'json', '--ignore-container-cpu-limit', '-'];
  const { stdout } = spawnSync(ensureTool('kube-score'), args, { input, encoding: 'utf8' });

  const scored: Scored[] = JSON.parse(stdout);
  const found = scored.flatMap(({ object_name: object, checks }) =>
    checks
      .filter(({ grade, skipped }) => !skipped && grade < 10)
      .map(({ check: { id } }) => (id in EXPLAINED ? id : `${id}: ${object.split('//')[1]}`)),
  );
  return [...new Set(found)].sort();
}

test('kube-score finds only what is explained', () => {
  const services = SERVICE_NAMES.flatMap((name) => charts.render(name, SHARED[name]));

  expect(score([...services, ...charts.render('platform')])).toEqual(Object.keys(EXPLAINED).sort());
  expect(Object.keys(EXPLAINED)).toEqual(
    expect.arrayContaining(score(charts.render('platform', PRODUCTION))),
  );
});

/** Randomly generated at each rendering: passwords and their checksums. */
const RANDOM = /\b[A-Za-z0-9]{40}\b|(?<="checksum\/secrets":")\w+/g;

test.each(SETS)('helm lints $chart, $name', ({ chart, values }) => {
  const { status, stdout } = charts.helm(['lint', '--strict', chart, '--values', '-'], values);

  expect(status, stdout).toBe(0);
});

test.each([...SERVICE_NAMES, 'common', 'platform'])('helm packages and installs %s', (chart) => {
  const packages = fs.mkdtempSync(path.join(folder, 'packages-'));
  const render = (name: string) =>
    JSON.stringify(charts.render(name, chart === 'common' ? SHOP : NEEDED[chart])).replaceAll(
      RANDOM,
      'RANDOM',
    );

  const packed = charts.helm(['package', chart, '--destination', packages]);
  const [file = ''] = fs.readdirSync(packages);

  expect(packed, packed.stderr).toMatchObject({ status: 0 });
  expect(render(path.join(packages, file))).toBe(render(chart));
});

test('a chart that is copied with its links renders in another repository', () => {
  const copy = path.join(folder, 'elsewhere');

  execFileSync('cp', ['-RL', path.join(import.meta.dirname, '../users'), copy]);

  expect(charts.render(copy)).toEqual(charts.render('users'));
});
