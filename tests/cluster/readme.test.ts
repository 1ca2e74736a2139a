import fs from 'node:fs';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { imageValues } from '../../deploy/local/cluster/images.ts';
import { runProgram } from '../../deploy/local/cluster/program.ts';
import { folders } from '../../deploy/local/state.ts';
import { provideVolumes } from './volumes.ts';
import { createWorld } from './world.ts';

const world = createWorld('readme');
const { cluster, namespace, settings } = world;

/** The shell blocks of a section, without those that publish the images. */
function readCommands(): string[] {
  const page = fs.readFileSync(path.join(folders.root, 'deploy/README.md'), 'utf8');
  const [, part = ''] = page.split('## On your own cluster\n');
  const [section = ''] = part.split(/^## /m);
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
  return blocks.filter((block) => !/^make images|^ *docker push/m.test(block));
}

/** One script of all blocks for this namespace; it ends at the first command that fails. */
function scriptOf(blocks: readonly string[]): string {
  const { edge, postgres, valkey } = settings.images;
  const trial = { postgres: imageValues(postgres), valkey: imageValues(valkey) };
  const overrides = `edge: ${JSON.stringify(imageValues(edge))}\ntrial: ${JSON.stringify(trial)}\n`;
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

test('the commands of deploy/README.md install, show, upgrade, roll back and remove the platform', async () => {
  await provideVolumes(world, 2);
  onTestFinished(() => {
    for (const name of ['values.yaml', 'port-forward.log']) {
      fs.rmSync(path.join(folders.root, '.local', name), { force: true });
    }
  });
  const script = scriptOf(readCommands());
  expect(script).toContain('helm upgrade');

  await runProgram('bash', ['-c', script], {
    signal: cluster.signal,
    env: { ...process.env, IMAGE_PREFIX: settings.imagePrefix, TAG: settings.tag || '0.1.0' },
  });
});
