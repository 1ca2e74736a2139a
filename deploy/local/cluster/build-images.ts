import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { SERVICE_NAMES, type ServiceName } from '../../../services/services.ts';
import { runProgram } from './program.ts';

export interface ImagesOptions {
  readonly root: string;
  /** `TAG`, `BUILD_IMAGE`, `RUN_IMAGE` and `SOURCE`, as `make images` takes them. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** An image of a service in the Docker engine. */
export interface Image {
  readonly service: ServiceName;
  readonly name: string;
  /** Its content: another build of the same files has the same. */
  readonly id: string;
}

/** Does what `make images` does, which tells about it itself, and says which images that gave. */
export async function buildImages({ root, env, signal }: ImagesOptions): Promise<Image[]> {
  const tag = env.TAG || 'dev';
  const program = path.join(root, 'deploy/images/build.ts');
  const child = spawn(process.execPath, [program], {
    cwd: root,
    env,
    signal,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error('The images are missing: what stands above says why');
  return Promise.all(
    SERVICE_NAMES.map(async (service) => {
      const name = `fw-${service}:${tag}`;
      const args = ['image', 'inspect', '--format', '{{.Id}}', name];
      const id = (await runProgram('docker', args, { signal })).trim().replace('sha256:', '');
      return { service, name, id: id.slice(0, 12) };
    }),
  );
}
