import fs from 'node:fs';
import path from 'node:path';

import { imageValues } from '../../deploy/local/cluster/images.ts';
import { folders } from '../../deploy/local/state.ts';
import type { World } from './scenario.ts';

/** The page with the commands, and its section that needs a cluster. */
const PAGE = path.join(folders.root, 'deploy/README.md');
const HEADING = '## On your own cluster\n';

/** The shell blocks of the section, without those that publish the images. */
export function readBlocks(page = fs.readFileSync(PAGE, 'utf8')): string[] {
  const [, part = ''] = page.split(HEADING);
  const [section = ''] = part.split(/^## /m);
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
  return blocks.filter((block) => !/^make images|^ *docker push/m.test(block));
}

/** One script of all blocks for another namespace; it ends at the first command that fails. */
export function scriptOf(
  { settings: { images }, namespace }: Pick<World, 'settings' | 'namespace'>,
  blocks: readonly string[],
): string {
  const overrides = Object.entries(images)
    .map(([part, image]) => `${part}: ${JSON.stringify(imageValues(image))}\n`)
    .join('');
  const commands = blocks.map((block) =>
    block.includes('> .local/values.yaml')
      ? `${block}cat >> .local/values.yaml <<'END'\n${overrides}END\n`
      : block,
  );
  return `set -euo pipefail
exec 2>&1
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
curl() { command curl --fail --silent --show-error "$@"; }
cd '${folders.root}'
${commands.join('\n').replaceAll('namespace fw', `namespace ${namespace}`)}`;
}
