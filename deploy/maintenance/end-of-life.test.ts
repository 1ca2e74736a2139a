import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { checkEndOfLife, findUnlisted, readReleaseCycles } from './end-of-life.ts';
import { findPinnedVersions } from './pinned-versions.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const SOURCE = 'https://example.org';
const NODE = { product: 'node', cycle: '22', endOfLife: '2027-04-30', source: SOURCE };

describe('the rule', () => {
  test.each([
    ['61 days before the end', '2027-02-28', 0, 0],
    ['60 days before the end', '2027-03-01', 1, 0],
    ['on the last day', '2027-04-30', 1, 0],
    ['on the day after', '2027-05-01', 0, 1],
  ])('%s (%s) there are %i warnings and %i errors', (_, today, warnings, errors) => {
    const outcome = checkEndOfLife([NODE], new Date(today));

    expect([outcome.warnings.length, outcome.errors.length]).toEqual([warnings, errors]);
  });

  test('a warning names the version, the date, the source and the remaining days', () => {
    expect(checkEndOfLife([NODE], new Date('2027-04-20')).warnings).toEqual([
      'node 22 reaches its end of life on 2027-04-30 (https://example.org), in 10 days',
    ]);
  });

  test('a review replaces an end of life that has passed, until its own date', () => {
    const kept = { ...NODE, review: '2027-12-31', reason: 'a reason' };

    expect(checkEndOfLife([kept], new Date('2027-06-01')).errors).toEqual([]);
    expect(checkEndOfLife([kept], new Date('2028-01-01')).errors).toEqual([
      'node 22 must be reviewed on 2027-12-31 (https://example.org)',
    ]);
  });

  test('a release cycle without a date is an error', () => {
    const { errors } = checkEndOfLife([{ ...NODE, endOfLife: '' }], new Date('2027-01-01'));

    expect(errors).toEqual(['node 22 has no date: expected endOfLife or review']);
  });
});

test.each([
  ['22.12.0', 0],
  ['22', 0],
  ['2.2', 1],
  ['220.1', 1],
])('version %s of node is not in cycle 22: %i', (version, count) => {
  const unlisted = findUnlisted([{ product: 'node', version, file: 'Dockerfile' }], [NODE]);

  expect(unlisted).toHaveLength(count);
});

describe('the list', () => {
  const cycles = readReleaseCycles();

  test('contains every version that the repository requires or installs', () => {
    expect(findUnlisted(findPinnedVersions(ROOT), cycles)).toEqual([]);
  });

  test('names a public source for every date, and a reason for every review', () => {
    for (const { source, review, reason } of cycles) {
      expect(source).toMatch(/^https:\/\//);
      expect(Boolean(reason)).toBe(Boolean(review));
    }
  });

  test('contains no version that has reached its end of life', () => {
    const { warnings, errors } = checkEndOfLife(cycles, new Date());

    for (const line of warnings) console.warn(`deploy/maintenance/end-of-life.json: ${line}`);
    expect(errors).toEqual([]);
  });
});

test.each(['argo-rollouts', 'prometheus'])('%s has one version in all files', (product) => {
  const found = findPinnedVersions(ROOT).filter((one) => one.product === product);

  expect(found.length).toBeGreaterThan(1);
  expect(new Set(found.map(({ version }) => version)).size).toBe(1);
});

test('the versions are found in every kind of file', () => {
  const found = findPinnedVersions(ROOT).map(({ product, file }) => `${product} ${file}`);

  expect(found).toEqual(
    expect.arrayContaining([
      'node Dockerfile',
      'debian Dockerfile',
      'node package.json',
      'node framework/core/package.json',
      'node framework/create/template/package.json',
      'node deploy/local/install-node.sh',
      'node tests/installation/runtimes.ts',
      'bun tests/installation/runtimes.ts',
      'nginx deploy/charts/platform/values.yaml',
      'postgres deploy/charts/platform/values.yaml',
      'valkey deploy/charts/platform/values.yaml',
      'debian deploy/charts/platform/values.yaml',
      'kubernetes deploy/charts/users/Chart.yaml',
      'kubernetes deploy/local/cluster/kind-images.ts',
      'h2spec deploy/local/go/h2spec/go.mod',
      'helm deploy/local/go/helm/go.mod',
      'k6 deploy/local/go/k6/go.mod',
      'kube-score deploy/local/go/kube-score/go.mod',
      'toxiproxy-server deploy/local/go/toxiproxy-server/go.mod',
      'zipkin deploy/local/observe/zipkin.ts',
      'go deploy/local/install-tool.ts',
      'argo-rollouts docs/operations/releases.md',
      'argo-rollouts tests/e2e/releases/build-images.sh',
      'prometheus tests/e2e/releases/build-images.sh',
      'python tests/conformance/environment.ts',
    ]),
  );
});
