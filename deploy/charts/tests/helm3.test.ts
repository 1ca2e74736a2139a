import { afterAll, expect, test } from 'vitest';

import { PLATFORMS } from './platform.ts';
import { EVERYTHING, NEEDED, packCharts, type Rendered, SHARED, type Values } from './render.ts';

/** The same charts, packed and rendered with Helm 4 and Helm 3. */
const [helm4, helm3] = [packCharts('helm'), packCharts('helm3')];
afterAll(() => {
  for (const charts of [helm4, helm3]) charts[Symbol.dispose]();
});

const CASES: [chart: string, name: string, values: Values][] = [
  ...Object.keys(SHARED).flatMap((chart): typeof CASES => [
    [chart, 'defaults', NEEDED[chart] ?? {}],
    [chart, 'all features', { ...SHARED[chart], ...EVERYTHING }],
  ]),
  ...Object.entries<Values>(PLATFORMS).map(([name, values]): (typeof CASES)[number] => [
    'platform',
    name,
    values,
  ]),
];

/** Randomly generated at each rendering: passwords and their checksums. */
const RANDOM = /\b[A-Za-z0-9]{40}\b|(?<="checksum\/password":")\w+/g;

test('the tests run Helm 4 and Helm 3', () => {
  const versions = [helm4, helm3].map(
    ({ helm }) => helm(['version', '--template', '{{.Version}}']).stdout,
  );

  expect(versions).toEqual([expect.stringMatching(/^v4\./), expect.stringMatching(/^v3\./)]);
});

test.each(CASES)('%s, %s: Helm 3 renders the same objects as Helm 4', (chart, _, values) => {
  const [made4, made3] = [helm4, helm3].map((charts): Rendered[] => {
    const text = JSON.stringify(charts.render(chart, values));
    return JSON.parse(text.replaceAll(RANDOM, 'RANDOM'));
  });

  expect(made3).toEqual(made4);
  expect(made3).not.toEqual([]);
});

test.each(Object.keys(SHARED))('helm lint --strict of Helm 3 accepts %s', (chart) => {
  const { status, stdout } = helm3.helm(
    ['lint', '--strict', chart, '--values', '-'],
    SHARED[chart],
  );

  expect(stdout).not.toMatch(/\[(WARNING|ERROR)\]/);
  expect(status).toBe(0);
});
