import { randomBytes } from 'node:crypto';

import { serviceImage } from '../../../deploy/local/cluster/images.ts';
import { SERVICES } from '../../../services/services.ts';
import { waitForLeftovers } from '../leftovers.ts';
import { createRelease } from '../release.ts';
import { scenario } from '../scenario.ts';
import { provideVolumes } from '../volumes.ts';

const CLAIMS = SERVICES.filter(({ store }) => store === 'database').map(
  ({ name }) => `persistentvolumeclaim/${name}-data`,
);

scenario({
  name: 'charts',
  title: 'each chart installs without the others, passes its test and leaves only its volume',
  seconds: 300,
  async run(world) {
    const { settings, log } = world;
    await provideVolumes(world, CLAIMS.length);
    const releases = SERVICES.map(({ name }) => createRelease(world, name));
    for (const [index, { name, calls, authenticated }] of SERVICES.entries()) {
      const release = releases[index]!;
      log(`installing ${name}, and running its test`);
      await release.install({
        image: serviceImage(settings),
        ...(calls.length > 0 && {
          upstreams: Object.fromEntries(calls.map((other) => [other, `http://${other}`])),
        }),
        ...(authenticated && { jwt: { secret: randomBytes(32).toString('base64url') } }),
      });
      await release.test();
    }
    log('uninstalling all');
    for (const release of releases.toReversed()) await release.uninstall();
    await waitForLeftovers(world, CLAIMS.toSorted());
  },
});
