import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Runs the Docker command line.
 *
 * @returns what it wrote to standard output, without the last line's end
 * @throws {Error} with what it wrote to standard error, if it fails
 */
export async function docker(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('docker', args, { maxBuffer: 64 * 1024 ** 2 }).catch(
    (error: { stderr?: string; message: string }) => {
      throw new Error(`docker ${args[0]}: ${error.stderr?.trim() || error.message}`);
    },
  );
  return stdout.trimEnd();
}

/** Why no image can be built or run on this machine, in one line; nothing where one can. */
export function missingEngine(): string | undefined {
  const { error, status, stderr } = spawnSync('docker', ['version'], {
    encoding: 'utf8',
    timeout: 10_000,
  });
  if (error) return 'no Docker: install Docker Engine (https://docs.docker.com/engine/install)';
  return status === 0 ? undefined : `no Docker engine answers: ${stderr.trim().split('\n').at(-1)}`;
}

/** Whether the engine has an image of this name. */
export function hasImage(name: string): boolean {
  return spawnSync('docker', ['image', 'inspect', name], { stdio: 'ignore' }).status === 0;
}
