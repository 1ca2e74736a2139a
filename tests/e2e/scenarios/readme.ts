import fs from 'node:fs';
import path from 'node:path';
import { imageValues } from '../../../deploy/local/cluster/images.ts';
import { runProgram } from '../../../deploy/local/cluster/program.ts';
import { folders } from '../../../deploy/local/state.ts';
import type { Scenario, World } from '../scenario.ts';
import { provideVolumes } from '../volumes.ts';

/** The page whose lines are typed, and the part of it that needs a cluster. */
const PAGE = path.join(import.meta.dirname, '../../../deploy/README.md');
const HEADING = '## On a cluster of yours\n';

/** A reader's way from nothing to a platform and back. */
export const readme: Scenario = {
  name: 'readme',
  title: 'the lines of deploy/README.md install, show, change, take back and remove the platform',
  seconds: 480,
  async run(world) {
    const { cluster, settings, say } = world;
    await provideVolumes(world);
    say('typing the lines');
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
};

/** The blocks of shell that come after the images are where the cluster finds them. */
export function readBlocks(page = fs.readFileSync(PAGE, 'utf8')): string[] {
  const [, part = ''] = page.split(HEADING);
  const [section = ''] = part.split(/^## /m);
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
  return blocks.filter((block) => !/^make images|^ *docker push/m.test(block));
}

/** One script of all blocks, in a namespace of its own; it ends at the first line that fails. */
export function scriptOf(
  { settings: { images }, space }: Pick<World, 'settings' | 'space'>,
  blocks: readonly string[],
): string {
  const others = Object.entries(images)
    .map(([part, image]) => `${part}: ${JSON.stringify(imageValues(image))}\n`)
    .join('');
  const typed = blocks.map((block) =>
    block.includes('> .local/values.yaml')
      ? `${block}cat >> .local/values.yaml <<'END'\n${others}END\n`
      : block,
  );
  return `set -euo pipefail
exec 2>&1
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
curl() { command curl --fail --silent --show-error "$@"; }
cd '${folders.root}'
mkdir -p .local
${typed.join('\n').replaceAll('namespace fw', `namespace ${space.name}`)}`;
}
