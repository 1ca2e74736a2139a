import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';

import { test } from 'vitest';

import { serviceImage } from '../../deploy/local/cluster/images.ts';
import { SERVICES } from '../../services/services.ts';
import { waitForLeftovers } from './leftovers.ts';
import { createRelease } from './platform.ts';
import { podsOf } from './pods.ts';
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
  authenticated,
  release: createRelease(world, name),
  values: {
    image: serviceImage(world.settings),
    ...(calls.length > 0 && {
      upstreams: Object.fromEntries(calls.map((other) => [other, `http://${other}`])),
    }),
    ...(authenticated && { jwt: { existingSecret: { name: SECRET } } }),
  } satisfies Values,
}));

async function applyNewSecret(): Promise<void> {
  await world.cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: SECRET, namespace: world.namespace },
    stringData: { secret: randomBytes(32).toString('base64url') },
  });
}

test('each chart installs without the platform, on SQLite or memory, and passes its test', async () => {
  await provideVolumes(world, claims.length);
  await applyNewSecret();
  for (const { release, values } of releases) {
    world.log(`installing ${release.name}, and running its test`);
    await release.put(values);
    await release.test();
  }
});

test('an upgrade to the same values replaces the pods whose Secret has changed, and no others', async () => {
  const namesOf = async (part: string) =>
    (await podsOf(world, part)).map(({ metadata }) => metadata.name).toSorted();
  await applyNewSecret();

  for (const { release, values, authenticated } of releases) {
    const before = await namesOf(release.name);
    await release.put(values);
    const isReplaced = String(await namesOf(release.name)) !== String(before);
    assert.equal(isReplaced, authenticated, release.name);
  }
});

test('uninstall leaves only the Secret and the volumes', async () => {
  for (const { release } of releases.toReversed()) await release.uninstall();

  await waitForLeftovers(world, [...claims, `secret/${SECRET}`].toSorted());
});
