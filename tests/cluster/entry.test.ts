import path from 'node:path';

import { expect, test } from 'vitest';

import { readObjects } from '../../deploy/charts/tests/render.ts';
import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { installPlatform, NAME, type Platform, QUIET } from './platform.ts';
import { killPods, podsOf, restart, scale } from './pods.ts';
import { EXPORTER, installPrometheus, PROMETHEUS_PEERS } from './releases/prometheus.ts';
import { streamDuring } from './stream.ts';
import { merge } from './values.ts';
import { createWorld } from './world.ts';

// One installation for all tests of this file: the platform, blackbox exporter, and Prometheus with the Probes and the
// alerts of the charts.
const world = createWorld('entry');
const { cluster, settings, namespace, log } = world;
const { full } = settings;
let platform: Platform;

test('requests through the edge succeed, and no alert fires', async () => {
  const networkPolicy = { monitoringFrom: PROMETHEUS_PEERS };
  platform = await installPlatform(world, merge(QUIET, { global: { networkPolicy } }));
  const monitored = merge(platform.values, {
    global: {
      entryProbe: { enabled: true, url: platform.base, exporter: EXPORTER },
      metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } },
    },
  });
  // Not installed: a cluster without the Prometheus operator does not know these kinds.
  const chart = path.resolve(import.meta.dirname, '../../deploy/charts/platform');
  const args = ['template', NAME, chart, '--namespace', namespace, '--values', '-'];
  const objects = readObjects(await cluster.helm(args, JSON.stringify(monitored)));

  await installPrometheus(world, objects);

  const what = 'a successful request to each service';
  await waitFor({ cluster, what, seconds: 60 }, async () => {
    const samples = await query('probe_success == 1');
    return samples.length === SERVICE_NAMES.length || undefined;
  });
  expect(await readAlerts()).toEqual([]);
});

/** Seconds in which an alert must fire. */
const LIMIT_SECONDS = 120;

interface Fault {
  readonly fault: string;
  /** The services whose requests fail. */
  readonly services: readonly string[];
  begin(): Promise<void>;
  end(): Promise<void>;
}

const scaleEdge = (count: number) => scale(world, 'deployment/fw-edge', count);
const patchUpstream = (name: string) =>
  cluster.kubectl([
    ...['patch', 'service', 'fw-users', '--namespace', namespace, '--patch'],
    JSON.stringify({ spec: { selector: { 'app.kubernetes.io/name': name } } }),
  ]);

const FAULTS: readonly Fault[] = [
  {
    fault: 'one of two edge pods refuses connections',
    services: SERVICE_NAMES,
    async begin() {
      await scaleEdge(1);
      await addClosedAddress();
    },
    async end() {
      await cluster.kubectl(['delete', 'endpointslice', 'closed', '--namespace', namespace]);
      await scaleEdge(2);
    },
  },
  {
    fault: 'all pods of the edge are down',
    services: SERVICE_NAMES,
    async begin() {
      await scaleEdge(0);
      await killPods(world, 'edge');
    },
    end: () => scaleEdge(2),
  },
  {
    fault: 'requests for users reach another service',
    services: ['users'],
    begin: async () => void (await patchUpstream('catalog')),
    end: async () => void (await patchUpstream('users')),
  },
];

test.each(full ? FAULTS : FAULTS.slice(0, 1))(
  'EntryFailing fires within 2 minutes if $fault',
  { timeout: 600_000 },
  async ({ services, begin, end }) => {
    const startedMs = Date.now();
    await begin();

    const expected = services.map((name) => `EntryFailing fw-${name}`).sort();
    await waitFor({ cluster, what: `${expected}`, seconds: LIMIT_SECONDS }, async () => {
      expect((await readAlerts()).sort()).toEqual(expected);
      return true;
    });
    const seconds = (Date.now() - startedMs) / 1_000;
    log(`${expected.join(', ')} after ${seconds.toFixed(0)} s`);
    expect(seconds).toBeLessThan(LIMIT_SECONDS);

    await end();
    if (full) await waitForRecovery();
  },
);

/** Minutes of normal load; a stream of requests is shorter. */
const LOAD_MINUTES = 60;
const STREAM_MINUTES = 12;

test.runIf(full)(
  'no alert fires in an hour of normal load with two rollouts of every part',
  { timeout: 2 * LOAD_MINUTES * 60_000 },
  async () => {
    const parts = [...SERVICE_NAMES, 'edge'].map((name) => `fw-${name}`);
    const startedMs = Date.now();

    for (let minutes = 0; minutes < LOAD_MINUTES; minutes += STREAM_MINUTES) {
      const changes = () => restart(world, minutes < 2 * STREAM_MINUTES ? parts : []);
      const options = { rate: 20, seconds: 60 * STREAM_MINUTES };
      await streamDuring(world, platform, changes, options);
    }

    const range = `${Math.ceil((Date.now() - startedMs) / 1_000)}s`;
    const [passed] = await query(`avg(avg_over_time(probe_success[${range}]))`);
    log(`share of the requests of blackbox exporter that passed: ${passed?.value[1]}`);
    expect(await readAlerts(`max_over_time(ALERTS{alertstate="firing"}[${range}])`)).toEqual([]);
  },
);

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, value: string];
}

/** Asks Prometheus, through the API of the cluster. */
async function query(expr: string): Promise<readonly Sample[]> {
  const prometheus = `/api/v1/namespaces/${namespace}/services/prometheus:9090/proxy`;
  const target = `${prometheus}/api/v1/query?query=${encodeURIComponent(expr)}`;
  return JSON.parse(await cluster.kubectl(['get', '--raw', target])).data.result;
}

/** The alerts that fire, as their name and their service; the objectives have one for each window. */
async function readAlerts(expr = 'ALERTS{alertstate="firing"}'): Promise<string[]> {
  const alerts = await query(expr);
  return alerts.map(({ metric: { alertname, service } }) => `${alertname} ${service}`);
}

/** Waits until no failed request counts any more: it would shorten the time to the next alert. */
async function waitForRecovery(): Promise<void> {
  await waitFor({ cluster, what: 'two minutes without a failure', seconds: 300 }, async () => {
    expect(await query('min_over_time(probe_success[2m]) == 0')).toEqual([]);
    return true;
  });
}

/** Adds an address to the Service of the edge, of a ready pod whose port is closed: that of Prometheus. */
async function addClosedAddress(): Promise<void> {
  const [pod] = await podsOf(world, 'prometheus');
  await cluster.apply({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'closed', namespace, labels: { 'kubernetes.io/service-name': 'fw-edge' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8443 }],
    endpoints: [{ addresses: [pod?.status.podIP], conditions: { ready: true } }],
  });
}
