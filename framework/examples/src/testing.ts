import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The secrets that examples read from their environment. */
export const SECRETS = {
  JWT_SECRET: 'a secret of at least 32 bytes, made for tests',
  SESSION_SECRET: 'another secret of at least 32 bytes',
  ADA_PASSWORD: 'correct horse',
};

const ROOT = join(import.meta.dirname, '../../..');

/** A running example. */
export interface Example {
  /** `http://127.0.0.1:<port>`, as printed by the program. */
  readonly origin: string;
  stop(): Promise<void>;
}

/**
 * Starts an example with the command of the README, on a free port.
 *
 * @throws {Error} with its output, if it exits or does not listen within 15 s
 */
export async function startExample(name: string): Promise<Example> {
  const child = spawn(process.execPath, [`framework/examples/src/${name}.ts`], {
    cwd: ROOT,
    env: { ...process.env, ...SECRETS, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const deadline = setTimeout(() => child.kill(), 15_000);
  let written = '';
  child.stderr.on('data', (chunk) => {
    written += chunk;
  });
  for await (const line of createInterface(child.stdout)) {
    const [origin] = /http:\S+/.exec(line) ?? [];
    if (!origin) continue;
    clearTimeout(deadline);
    child.stdout.resume();
    return {
      origin,
      async stop() {
        child.kill();
        await exited;
      },
    };
  }
  clearTimeout(deadline);
  throw new Error(`${name} exited before it listened: ${written}`);
}
