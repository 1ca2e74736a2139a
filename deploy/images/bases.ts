import fs from 'node:fs';
import path from 'node:path';

import { docker, hasImage } from './docker.ts';

/** Base images: build arguments of the Dockerfile. */
export interface Bases {
  /** The image of the build stages. */
  readonly BUILD_IMAGE: string;
  /** The image that the services run on. */
  readonly RUN_IMAGE: string;
}

/** Replace those of the Dockerfile on a machine without a registry, if its engine has both. */
const OFFLINE: Bases = { BUILD_IMAGE: 'local/node:26-slim', RUN_IMAGE: 'local/nodejs26:nonroot' };

/** The base images in `env`, by default those of the Dockerfile. */
export function chooseBases({ BUILD_IMAGE, RUN_IMAGE }: NodeJS.ProcessEnv = process.env): Bases {
  const file = path.resolve(import.meta.dirname, '../../Dockerfile');
  const text = fs.readFileSync(file, 'utf8');
  const read = (name: string) => new RegExp(`^ARG ${name}=(.+)$`, 'm').exec(text)?.[1] ?? '';
  const defaults = Object.values(OFFLINE).every(hasImage)
    ? OFFLINE
    : { BUILD_IMAGE: read('BUILD_IMAGE'), RUN_IMAGE: read('RUN_IMAGE') };
  return {
    BUILD_IMAGE: BUILD_IMAGE || defaults.BUILD_IMAGE,
    RUN_IMAGE: RUN_IMAGE || defaults.RUN_IMAGE,
  };
}

/**
 * Pulls missing base images and checks that both contain Node 26.
 *
 * @throws {Error} with the variable, its value and the expected value
 */
export async function requireBases(bases: Bases): Promise<void> {
  for (const [variable, image] of Object.entries(bases)) {
    const problem = (text: string) => new Error(`${variable} is "${image}": ${text}`);
    if (!/^[a-z0-9][\w./:@-]*$/.test(image)) {
      throw problem('expected the name of an image, such as node:26-slim');
    }
    if (!hasImage(image)) {
      await docker('pull', '--quiet', image).catch(({ message }: Error) => {
        const reason = message.split('\n').at(-1);
        throw problem(
          `the Docker engine does not have it and cannot pull it (${reason}): choose another image, ` +
            'as in make images BUILD_IMAGE=… RUN_IMAGE=…',
        );
      });
    }
    // Distroless images have Node in /nodejs.
    const folders = '--env=PATH=/nodejs/bin:/usr/local/bin:/usr/bin:/bin';
    const options = ['--rm', '--pull=never', '--network=none', folders, '--entrypoint=node'];
    const version = await docker('run', ...options, image, '--version').catch(() => 'none');
    if (!version.startsWith('v26.')) throw problem(`expected Node 26 in it, found ${version}`);
  }
}
