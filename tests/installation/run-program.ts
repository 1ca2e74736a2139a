import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Starts a server program on a free port, calls `use` with its origin, and stops it.
 *
 * @throws {Error} with the output of the program, if it ends before it listens
 */
export async function runProgram<T>(
  command: readonly string[],
  folder: string,
  use: (origin: string) => Promise<T>,
): Promise<T> {
  const [program = '', ...args] = command;
  const env = { ...process.env, PORT: '0', HEALTH_PORT: '0', NODE_OPTIONS: '' };
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  let output = '';
  try {
    const origin = await new Promise<string>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        output += chunk;
        const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? [];
        if (found) resolve(found);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.on('error', reject);
      child.on('close', () => reject(new Error(`Cannot run ${command.join(' ')}:\n${output}`)));
    });
    return await use(origin);
  } finally {
    child.kill('SIGKILL');
    await closed;
  }
}
