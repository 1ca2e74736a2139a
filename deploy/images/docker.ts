import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Runs the Docker command line and returns its standard output, without the final line break.
 *
 * @throws {Error} with the end of its output, if it fails
 */
export async function docker(...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run('docker', args, { maxBuffer: 64 * 1024 ** 2 });
    return stdout.trimEnd();
  } catch (error) {
    const {
      stdout = '',
      stderr = '',
      message,
    } = error as Error & Record<'stdout' | 'stderr', string>;
    // The classic builder prints a deprecation warning, and the error of a step to standard output.
    const warning = /^DEPRECATED: .*\n(?: +.*\n)*/m;
    const end = `${stdout.trim().split('\n').slice(-6).join('\n')}\n${stderr.replace(warning, '')}`;
    throw new Error(`docker ${args[0]}: ${end.trim() || message}`);
  }
}

/** Whether the engine has the image `name`. */
export function hasImage(name: string): boolean {
  return spawnSync('docker', ['image', 'inspect', name], { stdio: 'ignore' }).status === 0;
}

/** Why this machine cannot build or run images, in one line; undefined if it can. */
export function missingEngine(): string | undefined {
  const { error, status, stderr } = spawnSync('docker', ['version'], {
    encoding: 'utf8',
    timeout: 10_000,
  });
  if (error) return 'no Docker: install Docker Engine (https://docs.docker.com/engine/install)';
  return status === 0
    ? undefined
    : `no Docker engine responds: ${stderr.trim().split('\n').at(-1)}`;
}
