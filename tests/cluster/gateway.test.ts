import { test } from 'vitest';

import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { checkSystem } from '../check-system.ts';
import { singlePodsOnOneNode } from './nodes.ts';
import { assertResponds, installPlatform, type Platform, QUIET } from './platform.ts';
import { restart } from './pods.ts';
import { streamDuring } from './stream.ts';
import { merge, type Values } from './values.ts';
import { createWorld } from './world.ts';

// One installation for all tests of this file: the services behind a controller that is not of this project, first
// by routes of the Gateway API, then by an Ingress.
const world = createWorld('gateway', ({ settings }) => {
  const { gateway, ingressClass, controller, controllerAddress } = settings;
  if (gateway && ingressClass && controller && controllerAddress) return undefined;
  return 'GATEWAY, INGRESS_CLASS, CONTROLLER and CONTROLLER_ADDRESS must be set: see tests/cluster/README.md';
});
const { cluster, settings } = world;
const { controller, controllerAddress = 'http://unknown' } = settings;
const host = new URL(controllerAddress).hostname;
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

test('an Ingress serves both versions of the API: contract, smoke and helm test', async () => {
  await platform.upgrade({
    global: { httpRoute: { enabled: false } },
    ingress: { enabled: true, className: settings.ingressClass, hosts: [{ host }] },
  });
  const what = 'responses of every service through the Ingress';
  await waitFor({ cluster, what, seconds: 90 }, () => assertResponds(platform));

  await checkSystem(platform, cluster.signal);
  await platform.release.test();
});

test('behind an Ingress, no request is lost while services restart', async () => {
  const deployments = SERVICE_NAMES.map((name) => `fw-${name}`);

  await streamDuring(world, platform, () => restart(world, deployments));
});
