import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** What to run, and how to see that it is ready. */
export interface ProcessPlan {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Loopback ports it listens on. */
  readonly ports: readonly number[];
  /** Where clients reach it. */
  readonly address: string;
  /** Answers 200 once it is ready. */
  readonly readyUrl: string;
  /** Changes whenever the process has to be started anew: its code or its settings differ. */
  readonly fingerprint: string;
}

/** A process of ours, as written down for the next command. */
export interface ProcessRecord {
  readonly name: string;
  readonly pid: number;
  /** Tells this process from a later one under the same id. */
  readonly identity: string;
  readonly address: string;
  readonly readyUrl: string;
  readonly ports: readonly number[];
  readonly fingerprint: string;
}

export interface StartedProcess {
  readonly record: ProcessRecord;
  readonly child: ChildProcess;
}

/** Starts `plan` in a process group of its own, which outlives this one; output goes to `logFile`. */
export async function startProcess(plan: ProcessPlan, logFile: string): Promise<StartedProcess> {
  fs.mkdirSync(path.dirname(logFile), { recursive: true });
  fs.rmSync(logFile, { force: true });
  const log = fs.openSync(logFile, 'a');
  const child = spawn(plan.command, plan.args, {
    cwd: plan.cwd,
    env: plan.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  fs.closeSync(log);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.unref();
  const pid = child.pid ?? 0;
  const { name, address, readyUrl, ports, fingerprint } = plan;
  const identity = processIdentity(pid) ?? 'gone';
  return { record: { name, pid, identity, address, readyUrl, ports, fingerprint }, child };
}

/**
 * What tells process `pid` from any other that had or will have this id: when it was started.
 * Nothing when no such process runs; one that has ended but was not yet waited for counts as ended.
 */
export function processIdentity(pid: number): string | undefined {
  return fs.existsSync('/proc/self/stat') ? identityFromProc(pid) : identityFromPs(pid);
}

function identityFromProc(pid: number): string | undefined {
  try {
    // The name in parentheses may hold anything; the numbered fields start behind it (proc(5)).
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${fields[19]}`;
  } catch {
    return undefined;
  }
}

function identityFromPs(pid: number): string | undefined {
  try {
    const args = ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)];
    const line = execFileSync('ps', args, {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [state = '', ...started] = line.trim().split(/\s+/);
    return state === '' || state.startsWith('Z') ? undefined : started.join(' ');
  } catch {
    return undefined;
  }
}

/** Whether the process that `record` describes still runs. */
export function isRunning(record: ProcessRecord): boolean {
  return processIdentity(record.pid) === record.identity;
}

/**
 * Asks the process to end, and ends it and its children by force after `graceMs`.
 * Tells whether it ended by itself.
 */
export async function stopProcess(record: ProcessRecord, graceMs = 10_000): Promise<boolean> {
  if (!isRunning(record)) return true;
  signal(record.pid, 'SIGTERM');
  if (await hasEnded(record, graceMs)) return true;
  signal(-record.pid, 'SIGKILL');
  await hasEnded(record, 2_000);
  return false;
}

async function hasEnded(record: ProcessRecord, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (isRunning(record)) {
    if (performance.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Resolves once `record.readyUrl` answers 200.
 *
 * @throws {Error} if the process ends first, or is not ready within `timeoutMs`
 */
export async function waitUntilReady(record: ProcessRecord, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isReady(record))) {
    if (!isRunning(record)) throw new Error(`${record.name} ended while starting`);
    if (performance.now() > deadline) {
      throw new Error(
        `${record.name} was not ready within ${timeoutMs / 1000} s (${record.readyUrl})`,
      );
    }
    await sleep(30);
  }
}

/** Whether `readyUrl` answers 200 within a second. */
export async function isReady({ readyUrl }: { readonly readyUrl: string }): Promise<boolean> {
  try {
    const response = await fetch(readyUrl, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(1_000),
    });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
