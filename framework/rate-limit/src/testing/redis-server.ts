import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from '../../../../deploy/local/testing/ports.ts';
import { ensureTool } from '../../../../tools/programs.ts';

/** A Redis or Valkey server for one test, on a free local port. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Sends a signal; for SIGKILL, resolves when the process has ended. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Starts the killed server again on the same port, without data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server without persistence; resolves when it is ready. */
export async function startRedisServer(): Promise<RedisServer> {
  const program = ensureTool('redis');
  const directory = mkdtempSync(join(tmpdir(), 'rate-limit-'));
  const port = await freePort();
  let child = await spawnServer(program, port, directory);
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    signal: async (name) => {
      if (name === 'SIGKILL') await kill();
      else child.kill(name);
    },
    restart: async () => {
      child = await spawnServer(program, port, directory);
    },
    stop: async () => {
      await kill();
      rmSync(directory, { recursive: true });
    },
  };
}

async function spawnServer(
  program: string,
  port: number,
  directory: string,
): Promise<ChildProcess> {
  const settings = `--port ${port} --bind 127.0.0.1 --appendonly no --dir ${directory}`.split(' ');
  const child = spawn(program, [...settings, '--save', ''], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.setEncoding('utf8');
  for await (const text of child.stdout.iterator({ destroyOnReturn: false })) {
    output += text;
    if (!output.includes('Ready to accept connections')) continue;
    child.stdout.resume();
    child.stderr.resume();
    return child;
  }
  throw new Error(`The Redis server ended before it was ready: ${output}`);
}
