import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { hasImage } from '../../images/docker.ts';
import { runProgram } from './program.ts';
import type { PrepareOptions } from './record.ts';
import { createTimeLimit, reasonOf } from './time-limit.ts';

/** Kubernetes 1.37, which kind 0.33 was released with. */
const NODE_IMAGE =
  'kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5';

/** The node image of kind; `KIND_IMAGE` replaces it, such as one of a mirror. */
export function nodeImageOf(env: NodeJS.ProcessEnv): string {
  return env.KIND_IMAGE || NODE_IMAGE;
}

/** Pulls an image that the Docker engine does not have. @throws {Error} with the reason, if it cannot */
export async function ensureImage(image: string, log: (line: string) => void): Promise<void> {
  if (hasImage(image)) return;
  log(`Pulling ${image.split('@')[0]}`);
  await createTimeLimit()(600, 'pulling it', (signal) =>
    runProgram('docker', ['pull', '--quiet', image], { signal }),
  );
}

/** The images for a kind cluster, all in the Docker engine. */
export interface KindImages {
  /** The images of the services, and those that replace images of the charts. */
  readonly names: readonly string[];
  /** The images of the services that did not exist before. */
  readonly created: readonly string[];
  /** A digest of the image of each service. */
  readonly ids: Readonly<Record<string, string>>;
}

/** Pulls the images that replace those of the charts, then builds the images of the services. */
export async function prepareImages(options: PrepareOptions): Promise<KindImages> {
  const { env, limit, log } = options;
  const others = await ensureOtherImages(env, log);
  const own = SERVICE_NAMES.map((service) => `fw-${service}:${env.TAG || 'dev'}`);
  const created = own.filter((image) => !hasImage(image));
  await limit(900, 'building the images', (signal) => makeImages(options, signal));
  const contents = await Promise.all(own.map(contentOf));
  const ids = Object.fromEntries(SERVICE_NAMES.map((name, index) => [name, contents[index] ?? '']));
  return { names: [...own, ...others], created, ids };
}

/** The images that replace those of the charts. @throws {Error} naming the variable of a missing image */
async function ensureOtherImages(
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<readonly string[]> {
  const names = ['POSTGRES_IMAGE', 'VALKEY_IMAGE', 'NGINX_IMAGE'].filter((name) => env[name]);
  return Promise.all(
    names.map(async (name) => {
      const image = env[name] ?? '';
      await ensureImage(image, log).catch((cause: unknown) => {
        throw new Error(`${name} is "${image}", which is unavailable: ${reasonOf(cause)}`, {
          cause,
        });
      });
      return image;
    }),
  );
}

/** Runs `make images`, which prints its own progress. */
async function makeImages({ folders, env }: PrepareOptions, signal: AbortSignal): Promise<void> {
  const program = path.join(folders.root, 'deploy/images/build.ts');
  const child = spawn(process.execPath, [program], {
    cwd: folders.root,
    env,
    signal,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error('Cannot start without the images: see the lines above');
}

/** A digest of what a container of the image runs. Its labels differ after each commit. */
async function contentOf(image: string): Promise<string> {
  const format = '{{json .RootFS.Layers}} {{json .Config.Entrypoint}} {{json .Config.Env}}';
  const content = await runProgram('docker', ['image', 'inspect', '--format', format, image]);
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}
