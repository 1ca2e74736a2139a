import path from 'node:path';

import { expect, test } from 'vitest';

import type { Rendered } from '../../deploy/charts/tests/render.ts';
import { SHOP } from '../../deploy/charts/tests/values.ts';
import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { serviceImage } from '../../deploy/local/cluster/images.ts';
import { runProgram } from '../../deploy/local/cluster/program.ts';
import { ensureMonitoringKinds } from './monitoring.ts';
import { probeFromNewPod, probeFromPodOf } from './network.ts';
import { createRelease, nodeAddress } from './platform.ts';
import { podsOf, waitForPods } from './pods.ts';
import { merge, type Values } from './values.ts';
import { createWorld } from './world.ts';

// A service that uses no package of this repository, and the chart that it shares with the services.
const world = createWorld('express');
const { cluster, namespace, settings } = world;
const folder = path.join(import.meta.dirname, 'express');
// This machine has no ingress controller in front of the pods.
const values = merge(SHOP, {
  image: serviceImage(settings),
  service: { type: 'NodePort' },
  networkPolicy: { from: [{ ipBlock: { cidr: '0.0.0.0/0' } }] },
});
const release = createRelease(world, 'common', 'shop');
let base: string;

const read = (kind: string, name: string) =>
  cluster.read<Rendered>(kind, name, '--namespace', namespace);

test('common installs a service in Express, whose probes pass, and its helm test', async () => {
  await ensureMonitoringKinds(world);

  await release.put(values);

  base = await nodeAddress(world, 'shop');
  await waitFor({ cluster, what: `a response from ${base}`, seconds: 60 }, async () => {
    const response = await fetch(`${base}/api/shop/items`, { signal: AbortSignal.timeout(2_000) });
    return response.ok || undefined;
  });
  await release.test();
});

test('no request is lost in a rolling update', async () => {
  const before = (await podsOf(world, 'shop')).map(({ metadata }) => metadata.name);
  const load = runProgram('k6', ['run', '--quiet', path.join(folder, 'load.js')], {
    signal: cluster.signal,
    env: { ...process.env, BASE: base },
  });
  let isOver = false;
  const ended = load.finally(() => {
    isOver = true;
  });

  const changed: Values = { podAnnotations: { version: 'next' } };
  await Promise.race([ended, release.put(merge(values, changed))]);
  await waitForPods(world, { part: 'shop', count: 2 });

  const after = (await podsOf(world, 'shop')).map(({ metadata }) => metadata.name);
  expect(before.filter((name) => after.includes(name))).toEqual([]);
  expect(isOver, 'the update took longer than the load').toBe(false);
  console.log(await ended);
});

test('its metrics are those that the alerts and the dashboard read', async () => {
  const [pod] = await podsOf(world, 'shop');
  const print = `fetch('http://localhost:9090/metrics').then((r) => r.text()).then(console.log)`;
  const metrics = await cluster.kubectl([
    ...['exec', pod?.metadata.name ?? '', '--namespace', namespace],
    ...['--', 'node', '--eval', print],
  ]);
  const { spec } = await read('prometheusrule', 'shop');
  const { data } = await read('configmap', 'shop-dashboard');
  const isMeasured = (labels: string) => metrics.includes(`{${labels}} `);
  const limits = JSON.stringify(spec).matchAll(/,le=\\"([\d.]+)\\"/g);

  const get =
    'http_request_method="GET",http_route="/api/shop/items",http_response_status_code="200"';
  const post =
    'http_request_method="POST",http_route="/api/shop/orders",http_response_status_code="201"';
  const buckets = [...new Set([...limits].map(([, limit]) => `le="${limit}",${get}`))];
  expect(buckets).toHaveLength(2);
  expect([get, post, ...buckets].filter((labels) => !isMeasured(labels))).toEqual([]);
  expect(Object.values(data).join()).toContain('http_server_request_duration_seconds_count');
});

test('its pods accept requests only, and reach only DNS', async () => {
  const [pod] = await podsOf(world, 'shop');
  const host = pod?.status.podIP ?? '';
  const own = [
    { name: 'requests', host, port: 8080 },
    { name: 'metrics', host, port: 9090 },
  ];
  const { spec } = await cluster.read<Rendered>('service', 'kubernetes', '--namespace', 'default');
  const others = [
    { name: 'Kubernetes', host: spec.clusterIP, port: 443 },
    { name: 'DNS', host: `shop.${namespace}.svc` },
  ];

  const reached = [
    await probeFromNewPod(world, namespace, { addresses: own, allowed: ['requests'] }),
    await probeFromPodOf(world, 'shop', { addresses: others, allowed: ['DNS'] }),
  ];
  expect(reached).toEqual([['requests'], ['DNS']]);
});
