import assert from 'node:assert/strict';

import { merge } from '../../../deploy/local/cluster/values.ts';
import { checkSystem } from '../../check-system.ts';
import { assertSent, forAllServices, restartServices, streamDuring } from '../changes.ts';
import {
  controllerHost,
  installBehindController,
  missingController,
  restartController,
} from '../controller.ts';
import { missingSecondNode } from '../nodes.ts';
import type { Platform } from '../platform.ts';
import { scenario, type World } from '../scenario.ts';
import type { Settings } from '../settings.ts';

/** An attempt may lose no request by chance, so the scenario repeats it. */
const ATTEMPTS = 3;
/** The minimum duration of a stream. */
const SECONDS = 30;
/** A controller that ends closes connections of clients: these repeat their requests. */
const CONTROLLER_RESTART = { rate: 100, retrySeconds: 10 };

scenario({
  name: 'ingress',
  title: 'plain Ingresses serve all services; rolling restarts lose requests only without preStop',
  seconds: 480,
  missing: async (world) =>
    missingController(world.settings, { INGRESS_CLASS: 'ingressClass' }) ??
    (await missingSecondNode(world)),
  async run(world) {
    const { cluster, settings, log } = world;
    const platform = await installBehindController(world, {
      global: { ingress: ingress(settings) },
    });
    log('running the contract and smoke tests through the controller');
    await checkSystem(platform, cluster.signal);
    log('running helm test');
    await platform.release.test();

    const services = await streamDuring(world, {
      platform,
      changes: restartServices,
      seconds: SECONDS,
    });
    const { requests } = await services.end();
    log(`none of ${requests} requests was lost`);
    assertSent(world, requests, SECONDS);

    const controller = await streamDuring(world, {
      platform,
      changes: () => restartController(world),
      seconds: SECONDS,
      start: CONTROLLER_RESTART,
    });
    const restarted = await controller.end();
    log(
      `restarting the controller interrupted ${restarted.failed} of ${restarted.requests} requests; none was lost`,
    );
    await assertLossWithoutPreStop(world, platform);
  },
});

/** The control: the same restarts lose requests if a pod ends before the controller has noticed it. */
async function assertLossWithoutPreStop(world: World, platform: Platform): Promise<void> {
  world.log('disabling preStop');
  const values = forAllServices({ preStopSleepSeconds: 0 });
  await platform.release.upgrade(merge(platform.values, values));
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const stream = await streamDuring(world, {
      platform,
      changes: restartServices,
      seconds: SECONDS,
    });
    const { result } = await stream.stop();
    world.log(`${result.failed} of ${result.requests} requests were lost`);
    assertSent(world, result.requests, SECONDS);
    if (result.failed > 0) return;
  }
  assert.fail('no request was lost: the scenario would not detect a missing preStop');
}

function ingress(settings: Settings) {
  return {
    enabled: true,
    controller: 'none',
    controllerNamespace: settings.controller?.namespace,
    className: settings.ingressClass,
    hosts: [{ host: controllerHost(settings) }],
  };
}
