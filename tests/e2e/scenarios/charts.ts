import { randomBytes } from 'node:crypto';
import { serviceImage } from '../../../deploy/local/cluster/images.ts';
import type { Values } from '../../../deploy/local/cluster/values.ts';
import { createRelease } from '../release.ts';
import type { Scenario } from '../scenario.ts';
import { provideVolumes } from '../volumes.ts';
import { leavesOnly } from './platform.ts';

/** Each service on its own, with the store that one pod has. */
export const charts: Scenario = {
  name: 'charts',
  title: 'each chart installs alone, passes its own test and leaves nothing but its volume',
  seconds: 300,
  async run(world) {
    const { cluster, charts: folder, space, settings, say } = world;
    const image = serviceImage(settings);
    const values: Record<string, Values> = {
      users: { image },
      catalog: { image },
      reports: {
        image,
        upstreams: { users: 'http://users', catalog: 'http://catalog' },
        jwt: { secret: randomBytes(32).toString('base64url') },
      },
    };
    await provideVolumes(world);
    const releases = Object.keys(values).map((chart) =>
      createRelease({ cluster, charts: folder, space, chart }),
    );
    for (const release of releases) {
      say(`installing ${release.name}, and running its test`);
      await release.install(values[release.name] ?? {});
      await release.test();
    }
    say('uninstalling all three');
    for (const release of releases.toReversed()) await release.uninstall();
    await leavesOnly(world, [
      'persistentvolumeclaim/catalog-data',
      'persistentvolumeclaim/users-data',
    ]);
  },
};
