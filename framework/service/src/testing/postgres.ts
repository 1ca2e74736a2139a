import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import pg from 'pg';

const run = promisify(execFile);

export interface StartPostgresOptions {
  /** Settings of the server, such as `{ fsync: 'on' }`. Default: fast ones, which are not safe in a power failure. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The folder that will contain the folder of the data. Default: that of temporary files. */
  readonly parent?: string;
}

/** A real PostgreSQL server on a free port. */
export interface PostgresServer {
  /** Address of its first database. */
  readonly url: string;
  /** Creates an empty database; resolves with its address. */
  createDatabase(): Promise<string>;
  /** Kills all its processes (SIGKILL). */
  kill(): Promise<void>;
  /** Pauses all its processes (SIGSTOP) until `resume`. */
  pause(): Promise<void>;
  /** Lets its processes continue after `pause`. */
  resume(): Promise<void>;
  /** Starts it at the same address, after `kill` or an orderly shutdown. */
  restart(): Promise<void>;
  /** Kills it and removes its data. */
  stop(): Promise<void>;
}

const FAST = {
  fsync: 'off',
  full_page_writes: 'off',
  autovacuum_naptime: '1h',
};

/**
 * Starts a server. The caller stops it; if this process ends before, a watchdog does.
 *
 * @throws {Error} if PostgreSQL is not installed; the message contains the command to install it
 */
export async function startPostgres({
  settings = FAST,
  parent = tmpdir(),
}: StartPostgresOptions = {}): Promise<PostgresServer> {
  const programs = findPrograms();
  const owner = ownerOfServer();
  const directory = mkdtempSync(join(parent, 'postgres-'));
  const watchdog = startWatchdog(directory);
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const all = {
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: '',
      shared_buffers: '32MB',
      ...settings,
    };
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    server = spawn(join(programs, 'postgres'), ['-D', directory, ...flags], {
      ...owner,
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await listening(server);
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    const pids = familyOf(server.pid ?? 0);
    if (signal === 'SIGKILL') send(pids, signal);
    else server.kill(signal);
    await ended;
    while (anyRuns(pids)) await sleep(5);
  }

  try {
    if (owner.uid !== undefined && owner.gid !== undefined) {
      chownSync(directory, owner.uid, owner.gid);
    }
    const initial = ['-D', directory, '-U', 'postgres', '--no-sync', '-E', 'UTF8', '--locale=C'];
    await run(join(programs, 'initdb'), [...initial, '-A', 'trust'], { ...owner, cwd: directory });
    await start();
  } catch (error) {
    await end('SIGKILL');
    await watchdog.release();
    throw error;
  }

  return {
    url,
    async createDatabase() {
      const name = `db_${randomUUID().replaceAll('-', '')}`;
      const client = new pg.Client(url);
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return url.replace(/postgres$/, name);
    },
    kill: () => end('SIGKILL'),
    async pause() {
      send(familyOf(server?.pid ?? 0), 'SIGSTOP');
    },
    async resume() {
      send(familyOf(server?.pid ?? 0), 'SIGCONT');
    },
    async restart() {
      await end('SIGINT');
      await start();
    },
    async stop() {
      await end('SIGKILL');
      await watchdog.release();
    },
  };
}

/** The directory of the programs of the newest PostgreSQL that is installed. */
function findPrograms(): string {
  const foldersIn = (parent: string, pattern: RegExp, bin: string) =>
    existsSync(parent)
      ? readdirSync(parent)
          .filter((name) => pattern.test(name))
          .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
          .map((name) => join(parent, name, bin))
      : [];
  const found = [
    ...foldersIn('/usr/lib/postgresql', /^\d/, 'bin'),
    ...foldersIn('/opt/homebrew/opt', /^postgresql/, 'bin'),
    ...foldersIn('/usr/local/opt', /^postgresql/, 'bin'),
    ...(process.env.PATH ?? '').split(delimiter),
  ].find((directory) => existsSync(join(directory, 'initdb')));
  if (found) return found;
  const reason =
    'Cannot find PostgreSQL: install it by "apt-get install postgresql" or "brew install postgresql"';
  // The runner of this repository's tests skips a test that needs it.
  channel('fw:missing-program').publish({ program: 'postgres', reason });
  throw new Error(reason);
}

/** PostgreSQL does not run as root; its package creates the user `postgres`, and `nobody` always exists. */
function ownerOfServer(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    try {
      const ask = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }));
      return { uid: ask('-u'), gid: ask('-g') };
    } catch {
      // There is no such user.
    }
  }
  return {};
}

/**
 * Starts a process that waits for the end of this one: when the pipe between them closes, it kills the
 * server if that still runs, and removes its data.
 */
function startWatchdog(directory: string): { release(): Promise<void> } {
  const script = `
    read -r _
    if pid=$(head -n 1 "$0/postmaster.pid" 2>&-); then
      children=$(ps -A -o pid=,ppid= | awk -v p="$pid" '$2 == p { print $1 }')
      kill -9 "$pid" $children 2>&-
      sleep 0.1
    fi
    rm -rf "$0"`;
  const child = spawn('/bin/sh', ['-c', script, directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = once(child, 'exit');
  child.unref();
  return {
    async release() {
      rmSync(directory, { recursive: true, force: true });
      child.ref();
      child.stdin.end();
      await ended;
    },
  };
}

async function listening(server: ChildProcess): Promise<void> {
  let log = '';
  const ready = new Promise<void>((resolve) => {
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = `${log}${text}`.slice(-4_000);
      if (log.includes('ready to accept connections')) resolve();
    });
  });
  const early = once(server, 'exit').then(() => {
    throw new Error(`Cannot start PostgreSQL: ${log}`);
  });
  await Promise.race([ready, early]);
  early.catch(() => {});
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

/** The process `pid` and its children, which do not share its process group. */
function familyOf(pid: number): number[] {
  const children = listProcesses().filter(({ parent }) => parent === pid);
  return [pid, ...children.map((child) => child.pid)];
}

/** Whether one of the processes runs; zombies do not. */
function anyRuns(pids: readonly number[]): boolean {
  return listProcesses().some(({ pid, state }) => pids.includes(pid) && !state.startsWith('Z'));
}

function listProcesses(): { pid: number; parent: number; state: string }[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' });
  return lines.split('\n').map((line) => {
    const [pid, parent, state = ''] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), state };
  });
}

function send(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended.
    }
  }
}
