import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process of the local system that runs now, or ran when the record was written. */
export interface ProcessRecord {
  readonly name: string;
  readonly pid: number;
  /** Distinguishes this process from a later one with the same id. */
  readonly identity: string;
  /** The address for clients. */
  readonly address: string;
  /** Responds with 200 when the process is ready. */
  readonly readyUrl: string;
  /** The loopback ports that it listens on. */
  readonly ports: readonly number[];
  /** Changes whenever the process must be restarted: its code or its settings changed. */
  readonly fingerprint: string;
}

/** How to start a process. */
export interface ProcessPlan extends Omit<ProcessRecord, 'pid' | 'identity'> {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface StartedProcess {
  readonly record: ProcessRecord;
  readonly child: ChildProcess;
}

/**
 * Starts `plan` in its own process group, which outlives this process; `logFile` gets the output. Only the
 * owner can read its folder.
 */
export async function startProcess(plan: ProcessPlan, logFile: string): Promise<StartedProcess> {
  const { command, args, env, cwd, ...record } = plan;
  createPrivateFolder(path.dirname(logFile));
  fs.rmSync(logFile, { force: true });
  // nginx opens its standard output again: without "a", the two would overwrite each other's lines.
  const log = fs.openSync(logFile, 'a', 0o600);
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', log, log] });
  fs.closeSync(log);
  await once(child, 'spawn');
  child.unref();
  const { pid = 0 } = child;
  return { record: { ...record, pid, identity: processIdentity(pid) ?? 'ended' }, child };
}

/** Creates a folder that only the owner can read, or makes it so. */
export function createPrivateFolder(folder: string): void {
  fs.mkdirSync(folder, { recursive: true });
  fs.chmodSync(folder, 0o700);
}

/** The fields of `/proc/<pid>/stat` after the name of the program, from the state on (proc(5)); none if it has ended. */
export function readStat(pid: number): string[] {
  try {
    // The name in parentheses may contain anything; the numbered fields follow it.
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** The start time of process `pid`; undefined if there is none, or only one that has ended (a zombie). */
export function processIdentity(pid: number): string | undefined {
  try {
    if (!fs.existsSync('/proc/self/stat')) return identityFromPs(pid);
    const fields = readStat(pid);
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return /[ZX]/.test(fields[0] ?? 'X') ? undefined : `${boot} ${fields[19]}`;
  } catch {
    return undefined;
  }
}

function identityFromPs(pid: number): string | undefined {
  const args = ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)];
  const line = execFileSync('ps', args, {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  return line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
}

/** Whether the process of `record` still runs. */
export function isRunning(record: ProcessRecord): boolean {
  return processIdentity(record.pid) === record.identity;
}

/** Sends SIGTERM, and SIGKILL to the process group after `graceMs`. Returns whether SIGTERM was enough. */
export async function stopProcess(record: ProcessRecord, graceMs = 10_000): Promise<boolean> {
  if (!isRunning(record)) return true;
  signal(record.pid, 'SIGTERM');
  if (await hasEnded(record, graceMs)) return true;
  signal(-record.pid, 'SIGKILL');
  await hasEnded(record, 2_000);
  return false;
}

async function hasEnded(record: ProcessRecord, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
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
    // ESRCH: it has just ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Waits until `readyUrl` responds with 200. @throws {Error} if the process ends, or after `timeoutMs` */
export async function waitUntilReady(record: ProcessRecord, timeoutMs = 30_000): Promise<void> {
  const { name, readyUrl } = record;
  const deadline = performance.now() + timeoutMs;
  while (!(await isReady(record))) {
    if (!isRunning(record)) throw new Error(`${name} ended while starting`);
    if (performance.now() > deadline) {
      throw new Error(`${name} was not ready within ${timeoutMs / 1000} s (${readyUrl})`);
    }
    await sleep(30);
  }
}

/** Whether `readyUrl` responds with 200 within a second. */
export async function isReady({ readyUrl }: Pick<ProcessRecord, 'readyUrl'>): Promise<boolean> {
  try {
    const headers = { connection: 'close' };
    const response = await fetch(readyUrl, { headers, signal: AbortSignal.timeout(1_000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
