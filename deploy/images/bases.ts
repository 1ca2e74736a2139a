import fs from 'node:fs';
import path from 'node:path';

import { docker, hasImage } from './docker.ts';

/** The images that ours stand on: build arguments of the Dockerfile. */
export interface Bases {
  /** What to build in. */
  readonly BUILD_IMAGE: string;
  /** What to run on. */
  readonly RUN_IMAGE: string;
}

/** Stand-ins that a machine without a registry has. */
const STAND_INS: Bases = {
  BUILD_IMAGE: 'local/node:26-slim',
  RUN_IMAGE: 'local/nodejs26:nonroot',
};

/** What the environment names; else the stand-ins, where the engine has them; else the Dockerfile's. */
export function chooseBases(env: NodeJS.ProcessEnv = process.env): Bases {
  const usual = Object.values(STAND_INS).every(hasImage) ? STAND_INS : basesOfDockerfile();
  return {
    BUILD_IMAGE: env.BUILD_IMAGE || usual.BUILD_IMAGE,
    RUN_IMAGE: env.RUN_IMAGE || usual.RUN_IMAGE,
  };
}

function basesOfDockerfile(): Bases {
  const file = path.resolve(import.meta.dirname, '../../Dockerfile');
  const text = fs.readFileSync(file, 'utf8');
  const read = (name: string) => new RegExp(`^ARG ${name}=(.+)$`, 'm').exec(text)?.[1] ?? '';
  return { BUILD_IMAGE: read('BUILD_IMAGE'), RUN_IMAGE: read('RUN_IMAGE') };
}

/**
 * Brings the bases into the Docker engine, and looks whether they are what they must be.
 *
 * @throws {Error} naming the variable, its value and what was expected
 */
export async function bringBases(bases: Bases): Promise<void> {
  for (const [variable, image] of Object.entries(bases)) {
    const complain = (what: string) => new Error(`${variable} is "${image}": ${what}`);
    if (!/^[a-z0-9][\w./:@-]*$/.test(image)) {
      throw complain('expected the name of an image, such as node:26-slim');
    }
    if (!hasImage(image)) {
      await docker('pull', '--quiet', image).catch(({ message }: Error) => {
        const reason = message.split('\n').at(-1);
        throw complain(
          `the Docker engine does not have it, and cannot pull it (${reason}): name another one, ` +
            'as in make images BUILD_IMAGE=… RUN_IMAGE=…',
        );
      });
    }
    const version = await versionOfNode(image);
    if (!version.startsWith('v26.')) throw complain(`expected Node 26 in it, and found ${version}`);
  }
}

/** What `node --version` says in an image, or `none`. */
function versionOfNode(image: string): Promise<string> {
  // Distroless images have it in a folder of their own.
  const where = '/nodejs/bin:/usr/local/bin:/usr/bin:/bin';
  const options = ['--rm', '--pull=never', '--network=none', `--env=PATH=${where}`];
  return docker('run', ...options, '--entrypoint=node', image, '--version').catch(() => 'none');
}
