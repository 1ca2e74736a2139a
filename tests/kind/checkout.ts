import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';

import { freePortsFrom } from '../../deploy/local/testing/ports.ts';
import { copyCheckout, copyEnvironment } from '../copy-checkout.ts';

/** The tag of the images that the copy builds. */
export const TAG = 'kind-test';

/** The end of a command. */
export interface Ended {
  readonly code: number | null;
  /** Standard output and standard error. */
  readonly output: string;
}

/** A running command. */
export interface Command {
  readonly ended: Promise<Ended>;
  /** Resolves when the output contains `text`; rejects if the command ends without it. */
  printed(text: string): Promise<void>;
  /** Sends the signal of Ctrl-C to the command and its children, as a terminal does. */
  interrupt(): void;
}

/** The service that `make service` adds to the copy. */
export const ADDED_SERVICE = 'orders';

/** A copy of this checkout with a port of its own, and a fourth service. */
export interface Checkout {
  readonly folder: string;
  readonly port: number;
  /** Starts `make` with arguments such as `up` and `BACKEND=kind`. */
  start(...args: readonly string[]): Command;
  /** Runs `make` to its end. */
  make(...args: readonly string[]): Promise<Ended>;
  /** Runs `make` on a machine without kind. */
  makeWithoutKind(...args: readonly string[]): Promise<Ended>;
  remove(): void;
}

/** Copies this checkout, and adds a service. */
export async function checkoutForKind(): Promise<Checkout> {
  const folder = copyCheckout('kind');
  const added = startCommand('make', ['service', `NAME=${ADDED_SERVICE}`], {
    cwd: folder,
    env: environment(),
  });
  const { code, output } = await added.ended;
  if (code !== 0) throw new Error(`Cannot add a service:\n${output}`);
  const port = await freePortsFrom([0]);
  const run = (args: readonly string[], env = environment()) =>
    startCommand('make', [...args, `PORT=${port}`], { cwd: folder, env });
  return {
    folder,
    port,
    start: (...args) => run(args),
    make: (...args) => run(args).ended,
    makeWithoutKind: (...args) =>
      run(args, { ...environment(), PATH: pathWithoutKind(folder) }).ended,
    remove: () => fs.rmSync(folder, { recursive: true, force: true }),
  };
}

function environment(): NodeJS.ProcessEnv {
  return { ...copyEnvironment(), TAG, NO_COLOR: '1' };
}

/** A folder with the programs that `make up BACKEND=kind` needs, except kind. */
function pathWithoutKind(folder: string): string {
  const programs = fs.mkdtempSync(path.join(folder, 'without-kind-'));
  const folders = (environment().PATH ?? '').split(path.delimiter);
  for (const name of ['make', 'node', 'docker', 'helm', 'kubectl', 'ps']) {
    const file = folders.map((one) => path.join(one, name)).find((one) => fs.existsSync(one));
    if (!file) throw new Error(`Cannot find ${name} on the PATH`);
    fs.symlinkSync(file, path.join(programs, name));
  }
  return programs;
}

function startCommand(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Command {
  const child = spawn(program, args, {
    ...options,
    // A process group of its own, which a signal reaches as a whole.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const read = (chunk: Buffer) => {
    output += chunk;
    process.stdout.write(chunk);
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const ended = once(child, 'close').then(([code]) => ({ code, output }));
  return {
    ended,
    printed: (text) => untilPrinted(child, text, () => output),
    interrupt: () => void process.kill(-(child.pid ?? Number.NaN), 'SIGINT'),
  };
}

function untilPrinted(child: ChildProcess, text: string, output: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => output().includes(text) && resolve();
    child.stdout?.on('data', look);
    child.on('close', () => reject(new Error(`Ended without "${text}":\n${output()}`)));
    look();
  });
}
