import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { SERVICE_NAMES } from '../../services/services.ts';
import { charts, only, type Rendered, readObjects, type Values } from '../charts/tests/render.ts';
import { merge } from '../local/cluster/values.ts';

/** The blocks of YAML on a page. */
function valuesOn(page: string): readonly Values[] {
  return blocksOn(page, 'yaml').map((block): Values => parse(block));
}

function blocksOn(page: string, language: string): readonly string[] {
  const text = fs.readFileSync(path.join(import.meta.dirname, page), 'utf8');
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'));
  return [...blocks].map(([, block = '']) => block);
}

/** The text that the commands of deploy/README.md write to `.local/values.yaml`. */
function writeOwnValues(): string {
  const commands = blocksOn('../README.md', 'sh').find((block) => block.includes('values.yaml <<'));
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-values-'));
  try {
    const env = { PATH: process.env.PATH, IMAGE_PREFIX: 'registry.example.org/fw/', TAG: '0.1.0' };
    execFileSync('bash', ['--norc', '-euc', commands ?? 'exit 1'], { cwd: folder, env });
    return fs.readFileSync(path.join(folder, '.local/values.yaml'), 'utf8');
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

const WAYS_IN = '../../docs/operations/ways-in.md';
const OWN = writeOwnValues();

/** Renders a chart with the names and the namespace of the pages. */
function render(release: string, chart: string, ...values: readonly Values[]): Rendered[] {
  const args = ['template', release, chart, '--namespace', 'fw', '--values', '-'];
  const { status, stdout, stderr } = charts.helm(args, merge(...values));
  if (status !== 0) throw new Error(stderr);
  return readObjects(stdout);
}

function renderPlatform(...values: readonly Values[]): Rendered[] {
  return render('platform', 'platform', parse(OWN), ...values);
}

/** The image of each Deployment of a service. */
function imagesIn(objects: readonly Rendered[]): readonly string[] {
  return ['users', 'catalog', 'reports'].map(
    (name) =>
      only(objects, 'Deployment', `platform-${name}`).spec.template.spec.containers[0].image,
  );
}

test('the values on releases.md make each service a Rollout', () => {
  const objects = renderPlatform(...valuesOn('../../docs/operations/releases.md'));

  for (const name of SERVICE_NAMES) {
    expect(only(objects, 'Rollout', `platform-${name}`)).toBeDefined();
  }
});

test.each([
  [0, 'Service', 'platform-edge'],
  [1, 'HTTPRoute', 'platform-users'],
  [2, 'Ingress', 'platform-users'],
  [3, 'Ingress', 'platform'],
])(
  'the chart accepts .local/values.yaml with block %i of ways-in.md, and creates %s %s',
  (block, kind, name) => {
    const objects = renderPlatform(...valuesOn(WAYS_IN).slice(block, block + 1));

    expect(only(objects, kind, name)).toBeDefined();
    expect(imagesIn(objects)).toEqual(
      ['users', 'catalog', 'reports'].map(
        (service) => `registry.example.org/fw/fw-${service}:0.1.0`,
      ),
    );
  },
);

test('values of one service in .local/values.yaml do not change the others', () => {
  const changed = OWN.replace('tag: "0.1.0"', 'tag: "0.2.0"');

  const images = imagesIn(render('platform', 'platform', parse(changed)));

  expect(images.map((image) => image.split(':')[1])).toEqual(['0.2.0', '0.1.0', '0.1.0']);
});

test('the idle time on ways-in.md applies to all services', () => {
  const objects = renderPlatform(...valuesOn(WAYS_IN).slice(-1));

  for (const name of ['users', 'catalog', 'reports']) {
    expect(only(objects, 'ConfigMap', `platform-${name}`).data.KEEP_ALIVE_TIMEOUT_MS).toBe(
      '3700000',
    );
  }
});

test('the values for TLS in the README of the platform give the edge HTTPS', () => {
  const tls = valuesOn('../charts/platform/README.md').find((values) => 'edge' in values);

  const { type, ports } = only(renderPlatform(tls ?? {}), 'Service', 'platform-edge').spec;

  expect(type).toBe('LoadBalancer');
  expect(ports).toEqual([
    expect.objectContaining({ port: 80 }),
    expect.objectContaining({ port: 443 }),
  ]);
});

test('the values on canary.md send requests of users to the next version, and of no other service', () => {
  const [, gateway = {}] = valuesOn(WAYS_IN);
  const [client = {}, next = {}, header = {}, share = {}] = valuesOn(
    '../../docs/operations/canary.md',
  );
  const rulesOf = (service: string, split: Values) => {
    const objects = renderPlatform(gateway, client, split);
    return only(objects, 'HTTPRoute', `platform-${service}`).spec.rules;
  };

  expect(rulesOf('users', header)[0].matches[0].headers).toEqual([
    { name: 'x-canary', value: 'always' },
  ]);
  expect(rulesOf('users', share)[1].backendRefs).toEqual([
    { name: 'platform-users', port: 80, weight: 90 },
    { name: 'users-next', port: 80, weight: 10 },
  ]);
  expect(rulesOf('catalog', share)).toHaveLength(1);
  const objects = render('users-next', 'users', next);
  expect(only(objects, 'Service').metadata.name).toBe('users-next');
  expect(only(objects, 'Deployment').spec.replicas).toBe(2);
});

test('the next version of reports on canary.md finds the services, Secrets and Valkey of the platform', () => {
  const [, , , , client = {}, next = {}] = valuesOn('../../docs/operations/canary.md');
  const platform = renderPlatform(client);
  const objects = render('reports-next', 'reports', next);

  const urls: Readonly<Record<string, string>> = only(objects, 'ConfigMap').data;
  for (const name of ['users', 'catalog']) {
    const url = urls[`${name.toUpperCase()}_URL`] ?? '';
    expect(only(platform, 'Service', new URL(url).hostname)).toBeDefined();
  }
  const { template } = only(objects, 'Deployment').spec;
  const [{ projected }] = template.spec.volumes;
  expect(projected.sources).toHaveLength(2);
  for (const { secret } of projected.sources) {
    expect(only(platform, 'Secret', secret.name).stringData).toHaveProperty(secret.items[0].key);
  }
  const [rule] = only(platform, 'NetworkPolicy', 'platform-valkey').spec.ingress;
  expect(rule.from).toContainEqual({
    podSelector: {
      matchLabels: {
        'app.kubernetes.io/instance': template.metadata.labels['app.kubernetes.io/instance'],
      },
    },
  });
});
