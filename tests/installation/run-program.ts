import { startProgram } from '../../deploy/local/testing/program.ts';

/** Starts a server program on a free port, calls `use` with its origin, and kills it. */
export async function runProgram<T>(
  command: readonly string[],
  folder: string,
  use: (origin: string) => Promise<T>,
): Promise<T> {
  const { match, stop } = await startProgram(command, {
    cwd: folder,
    env: { ...process.env, PORT: '0', HEALTH_PORT: '0', NODE_OPTIONS: '' },
    ready: /http:\/\/127\.0\.0\.1:\d+/,
  });
  try {
    return await use(match[0] ?? '');
  } finally {
    await stop('SIGKILL');
  }
}
