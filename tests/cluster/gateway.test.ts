import assert from 'node:assert/strict';

import { test } from 'vitest';

import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { checkSystem } from '../check-system.ts';
import { singlePodsOnOneNode } from './nodes.ts';
import {
  assertResponds,
  forAllServices,
  installPlatform,
  type Platform,
  QUIET,
} from './platform.ts';
import { restart, restartServices } from './pods.ts';
import { assertLoses, streamDuring } from './stream.ts';
import { merge, type Values } from './values.ts';
import { createWorld } from './world.ts';

// One installation for all tests of this file: the services behind a controller that is not of this project, first
// by routes of the Gateway API, then by Ingresses.
const world = createWorld('gateway', ({ settings }) => {
  const { gateway, ingressClass, controller, controllerAddress } = settings;
  if (gateway && ingressClass && controller && controllerAddress) return undefined;
  return 'GATEWAY, INGRESS_CLASS, CONTROLLER and CONTROLLER_ADDRESS must be set: see tests/cluster/README.md';
});
const { cluster, settings, log } = world;
const { controller, controllerAddress = 'http://unknown', full } = settings;
const host = new URL(controllerAddress).hostname;
const restartAll = () => restartServices(world);
let platform: Platform;

test('a Gateway serves both versions of the API: contract, smoke and helm test', async () => {
  const matchLabels = { 'kubernetes.io/metadata.name': controller?.namespace };
  const values: Values = {
    global: {
      httpRoute: { enabled: true, parentRefs: [settings.gateway], hostnames: [host] },
      networkPolicy: { from: [{ namespaceSelector: { matchLabels } }] },
    },
    // Serves only its page.
    edge: { service: { type: 'ClusterIP' } },
  };
  const singlePods = await singlePodsOnOneNode(cluster);
  const all = merge(QUIET, singlePods, values);
  platform = await installPlatform(world, all, controllerAddress);

  await checkSystem(platform, cluster.signal);
  await platform.release.test();
});

test('behind a Gateway, no request is lost while services restart', async () => {
  const stream = await streamDuring(world, platform, restartAll);

  await stream.end();
});

test('Ingresses serve both versions of the API: contract, smoke and helm test', async () => {
  await platform.upgrade({
    global: {
      httpRoute: { enabled: false },
      ingress: {
        enabled: true,
        controller: 'none',
        controllerNamespace: controller?.namespace,
        className: settings.ingressClass,
        hosts: [{ host }],
      },
      networkPolicy: { from: [] },
    },
  });
  const what = 'responses of every service through the Ingresses';
  await waitFor({ cluster, what, seconds: 90 }, () => assertResponds(platform));

  await checkSystem(platform, cluster.signal);
  await platform.release.test();
});

test('behind an Ingress, no request is lost while services restart', async () => {
  const stream = await streamDuring(world, platform, restartAll);

  await stream.end();
});

test('clients that repeat their requests lose none while the controller restarts', async () => {
  assert.ok(controller);
  const { namespace, name } = controller;
  const changes = () => restart({ ...world, namespace }, [name]);

  const stream = await streamDuring(world, platform, changes, { rate: 100, retrySeconds: 10 });

  const { failed, requests } = await stream.end();
  log(`restarting the controller interrupted ${failed} of ${requests} requests`);
});

test.runIf(full)(
  'without preStop, a restart behind an Ingress loses requests: the test above would detect it',
  async () => {
    await platform.upgrade(forAllServices({ preStopSleepSeconds: 0 }));

    await assertLoses(world, platform, restartAll);
  },
);
