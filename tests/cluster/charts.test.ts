import { randomBytes } from 'node:crypto';

import { test } from 'vitest';

import { serviceImage } from '../../deploy/local/cluster/images.ts';
import { addressVariable } from '../../deploy/local/service-variables.ts';
import { SERVICES } from '../../services/services.ts';
import { waitForLeftovers } from './leftovers.ts';
import { createRelease } from './platform.ts';
import type { Values } from './values.ts';
import { provideVolumes } from './volumes.ts';
import { createWorld } from './world.ts';

const world = createWorld('charts');
const claims = SERVICES.filter(({ store }) => store === 'database').map(
  ({ name }) => `persistentvolumeclaim/${name}-data`,
);
/** The Secret with the key of the tokens. */
const SECRET = 'token-key';

/** Each service without the platform. */
const releases = SERVICES.map(({ name, calls, authenticated }) => ({
  release: createRelease(world, name),
  values: {
    image: serviceImage(world.settings),
    config: Object.fromEntries(calls.map((other) => [addressVariable(other), `http://${other}`])),
    ...(authenticated && { secrets: { JWT_SECRET: { existingSecret: SECRET } } }),
  } satisfies Values,
}));

test('each chart installs without the platform, on SQLite or memory, and passes its test', async () => {
  await provideVolumes(world, claims.length);
  await world.cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: SECRET, namespace: world.namespace },
    stringData: { secret: randomBytes(32).toString('base64url') },
  });
  for (const { release, values } of releases) {
    world.log(`installing ${release.name}, and running its test`);
    await release.put(values);
    await release.test();
  }
});

test('uninstall leaves only the Secret and the volumes', async () => {
  for (const { release } of releases.toReversed()) await release.uninstall();

  await waitForLeftovers(world, [...claims, `secret/${SECRET}`].toSorted());
});
