import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Runs the Docker command line.
 *
 * @returns what it wrote to standard output, without the last line's end
 * @throws {Error} with the end of what it wrote, if it fails
 */
export async function docker(...args: readonly string[]): Promise<string> {
  const { stdout } = await dockerOutputs(...args);
  return stdout.trimEnd();
}

/** Like `docker`, for a command that uses both outputs, as `logs` does. */
export async function dockerOutputs(
  ...args: readonly string[]
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return run('docker', args, { maxBuffer: 64 * 1024 ** 2 }).catch(
    ({
      stdout = '',
      stderr = '',
      message,
    }: {
      stdout?: string;
      stderr?: string;
      message: string;
    }) => {
      // The classic builder writes what a step complained about to standard output.
      const end = stdout.trim().split('\n').slice(-6).join('\n');
      const said = `${end}\n${stderr.replace(/^DEPRECATED: .*\n(?: +.*\n)*/m, '').trim()}`.trim();
      throw new Error(`docker ${args[0]}: ${said || message}`);
    },
  );
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
