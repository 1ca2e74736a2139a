import assert from 'node:assert/strict';

import { merge, type Values } from '../../../deploy/local/cluster/values.ts';
import { checkSystem } from '../../check-system.ts';
import { countNext, installNext, NEXT, readCanaryValues, split, waitForShare } from '../canary.ts';
import { assertSent, restart, restartServices, streamDuring } from '../changes.ts';
import {
  controllerHost,
  controllerPeer,
  installBehindController,
  missingController,
} from '../controller.ts';
import { missingSecondNode } from '../nodes.ts';
import type { Platform } from '../platform.ts';
import { scenario, type World } from '../scenario.ts';
import type { Settings } from '../settings.ts';

const REQUESTS = 2_000;
/** The minimum duration of a stream. */
const SECONDS = 30;

scenario({
  name: 'gateway',
  title: 'a gateway serves all services, splits requests by header and weight, and loses none',
  seconds: 600,
  missing: async (world) =>
    missingController(world.settings, { GATEWAY: 'gateway' }) ?? (await missingSecondNode(world)),
  async run(world) {
    const { cluster, settings, log } = world;
    const steps = readCanaryValues(settings.controller?.namespace ?? '');
    const platform = await installBehindController(world, merge(route(settings), steps.client));
    log('running the contract and smoke tests through the gateway');
    await checkSystem(platform, cluster.signal);
    log('running helm test');
    await platform.release.test();

    log('giving a share to a Service that does not exist');
    const upgrade = (values: Values) => platform.release.upgrade(merge(platform.values, values));
    await assert.rejects(upgrade(steps.share), /users-next, but \S+ has no such Service/);
    log('misspelling a key');
    await assert.rejects(
      upgrade({ users: { httpRoute: { others: [{ name: NEXT, wieght: 10 }] } } }),
      /wieght/,
    );

    log('installing the next version of users');
    const next = await installNext(world, steps.next);
    await next.test();
    await upgrade(steps.header);
    await waitForShare(world, platform, { percent: 100, headers: { 'x-canary': 'always' } });
    assert.equal(await countNext(platform, 200), 0);
    await upgrade(steps.share);
    const count = await waitForShare(world, platform, { percent: 10, requests: REQUESTS });
    log(`the next version received ${count} of ${REQUESTS} requests`);

    const stream = await streamDuring(world, { platform, changes, seconds: SECONDS });
    const { requests } = await stream.end();
    log(`none of ${requests} requests was lost`);
    assertSent(world, requests, SECONDS);

    log('removing the next version from the route, then from the cluster');
    await upgrade({});
    await waitForShare(world, platform, { percent: 0 });
    await next.uninstall();
    assert.equal(await countNext(platform, 200), 0);
  },
});

/** Values that attach the services to the Gateway. */
function route(settings: Settings): Values {
  const httpRoute = {
    enabled: true,
    parentRefs: [settings.gateway],
    hostnames: [controllerHost(settings)],
  };
  return { global: { httpRoute, networkPolicy: { from: [controllerPeer(settings)] } } };
}

/** Every change of weights, and a restart of every service. */
async function changes(world: World, { release, values }: Platform): Promise<void> {
  for (const weight of [50, 100, 10]) {
    world.log(`giving the next version ${weight} % of the requests`);
    await release.upgrade(merge(values, split(weight)));
  }
  await restartServices(world);
  await restart(world, [NEXT]);
}
