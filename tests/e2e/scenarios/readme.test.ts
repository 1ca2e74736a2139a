import fs from 'node:fs';
import path from 'node:path';

import { runProgram } from '../../../deploy/local/cluster/program.ts';
import { folders } from '../../../deploy/local/state.ts';
import { readBlocks, scriptOf } from '../readme-script.ts';
import { scenario } from '../scenario.ts';
import { provideVolumes } from '../volumes.ts';

scenario({
  name: 'readme',
  title:
    'the commands of deploy/README.md install, show, upgrade, roll back and remove the platform',
  seconds: 480,
  async run(world) {
    const { cluster, settings, log } = world;
    await provideVolumes(world);
    log('running the commands');
    try {
      await runProgram('bash', ['-c', scriptOf(world, readBlocks())], {
        signal: cluster.signal,
        env: { ...process.env, IMAGE_PREFIX: settings.imagePrefix, TAG: settings.tag || '0.1.0' },
      });
    } finally {
      for (const name of ['values.yaml', 'port-forward.log']) {
        fs.rmSync(path.join(folders.root, '.local', name), { force: true });
      }
    }
  },
});
