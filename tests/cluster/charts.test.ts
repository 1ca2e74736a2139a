import { randomBytes } from 'node:crypto';

import { test } from 'vitest';

import { serviceImage } from '../../deploy/local/cluster/images.ts';
import { SERVICES } from '../../services/services.ts';
import { waitForLeftovers } from './leftovers.ts';
import { createRelease } from './platform.ts';
import { provideVolumes } from './volumes.ts';
import { createWorld } from './world.ts';

const world = createWorld('charts');
const releases = SERVICES.map(({ name }) => createRelease(world, name));
const claims = SERVICES.filter(({ store }) => store === 'database').map(
  ({ name }) => `persistentvolumeclaim/${name}-data`,
);

test('each chart installs without the platform, on SQLite or memory, and passes its test', async () => {
  await provideVolumes(world, claims.length);
  for (const [index, { name, calls, authenticated }] of SERVICES.entries()) {
    const release = releases[index]!;
    world.log(`installing ${name}, and running its test`);
    const upstreams = Object.fromEntries(calls.map((other) => [other, `http://${other}`]));
    await release.put({
      image: serviceImage(world.settings),
      ...(calls.length > 0 && { upstreams }),
      ...(authenticated && { jwt: { secret: randomBytes(32).toString('base64url') } }),
    });
    await release.test();
  }
});

test('uninstall leaves only the volumes', async () => {
  for (const release of releases.toReversed()) await release.uninstall();

  await waitForLeftovers(world, claims.toSorted());
});
