import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProgramOptions {
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** The program is ready when its output matches, or when this URL responds with a status below 500. */
  readonly ready: RegExp | string;
  /** Default: 60 s. */
  readonly readyWithinMs?: number;
  /** Whether `stop` also signals the processes that the program started. Default false. */
  readonly isGroup?: boolean;
}

/** A running program. */
export interface Program {
  /** Its standard input is a pipe. */
  readonly child: ChildProcess;
  /** The exit code, and the signal that ended it. */
  readonly ended: Promise<readonly [code: number | null, signal: NodeJS.Signals | null]>;
  /** Its standard output and error so far. */
  output(): string;
  /** The match of `ready` and its groups; empty for a URL. */
  readonly match: readonly string[];
  /** Sends a signal, by default SIGTERM, if the program still runs, and waits until it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const running = new Set<() => void>();
process.on('exit', () => {
  for (const kill of running) kill();
});

/**
 * Starts a program and waits until it is ready. It is killed when this process exits.
 *
 * @throws {Error} with its output, if it ends before it is ready, or is not ready in time
 */
export async function startProgram(
  [file = '', ...args]: readonly string[],
  { env, cwd, ready, readyWithinMs = 60_000, isGroup = false }: ProgramOptions,
): Promise<Program> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'program-'));
  const log = path.join(folder, 'output');
  // Not a pipe: nginx opens its outputs by name.
  const written = fs.openSync(log, 'a');
  const child = spawn(file, args, {
    ...{ env, cwd, detached: isGroup },
    stdio: ['pipe', written, written],
  });
  fs.closeSync(written);
  const send = (signal: NodeJS.Signals) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(isGroup ? -child.pid : child.pid, signal);
  };
  const kill = () => send('SIGKILL');
  running.add(kill);
  let last: string | undefined;
  const output = () => last ?? fs.readFileSync(log, 'utf8');
  const ended = once(child, 'exit').then(([code, signal]) => [code, signal] as const);
  const forget = () => {
    last = output();
    fs.rmSync(folder, { recursive: true });
    running.delete(kill);
  };
  ended.then(forget, forget); // before those that wait for the end
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    send(signal);
    await ended;
  };

  const deadlineMs = performance.now() + readyWithinMs;
  for (;;) {
    const match = typeof ready === 'string' ? await requestUrl(ready) : ready.exec(output());
    if (match) return { child, ended, output, match: [...match], stop };
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (hasEnded || performance.now() > deadlineMs) {
      await stop('SIGKILL');
      const problem = hasEnded ? 'ended before it was ready' : 'was not ready in time';
      throw new Error(`${[file, ...args].join(' ')} ${problem}:\n${output()}`);
    }
    await Promise.race([sleep(20), ended]);
  }
}

/** An empty match, if the URL responds with a status below 500. */
async function requestUrl(url: string): Promise<readonly string[] | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    return response.status < 500 ? [] : undefined;
  } catch {
    return undefined;
  }
}
