import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';

import { copyCheckout, copyEnvironment } from '../copy-checkout.ts';

/** A copy of this checkout. */
export interface Copy {
  readonly folder: string;
  /** Runs a command and returns its output. @throws {Error} with the output, if the command fails */
  run(command: string, ...args: readonly string[]): Promise<string>;
  remove(): void;
}

/** Copies this checkout, so that a service can be added to the copy. */
export function copyForService(): Copy {
  const folder = copyCheckout('new-service');
  return {
    folder,
    run: (command, ...args) => run(folder, command, args),
    remove: () => fs.rmSync(folder, { recursive: true, force: true }),
  };
}

async function run(cwd: string, command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, {
    cwd,
    env: copyEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => output.push(chunk));
  }
  const [code] = await once(child, 'close');
  const text = Buffer.concat(output).toString();
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed (${code}):\n${text}`);
  return text;
}
