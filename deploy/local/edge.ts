import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ProcessPlan, ProcessRecord } from './process.ts';

/** The ports of each service's replicas on this machine. */
export type Upstreams = Readonly<Record<'users' | 'catalog' | 'reports', readonly number[]>>;

export interface EdgeOptions {
  readonly nginx: string;
  readonly port: number;
  readonly upstreams: Upstreams;
  /** Everything the edge reads and writes stands here. */
  readonly prefix: string;
}

/** The part of the edge's configuration that names the replicas; nothing new goes to the port `away`. */
export function renderUpstreams(upstreams: Upstreams, away?: number): string {
  return Object.entries(upstreams)
    .map(([name, ports]) => {
      const servers = ports
        .map(
          (port) => `  server 127.0.0.1:${port}${port === away ? ' down' : ''} fail_timeout=1s;\n`,
        )
        .join('');
      // Shorter than a service keeps an idle connection, 75 s, and 5 s while it ends: nginx is always
      // first to close, so no request meets a connection that the other side is closing.
      return `upstream ${name} {\n${servers}  keepalive 32;\n  keepalive_timeout 3s;\n}\n`;
    })
    .join('\n');
}

/** Writes the edge's configuration below `prefix`, and tells how to run nginx on it. */
export function planEdge({ nginx, port, upstreams, prefix }: EdgeOptions): ProcessPlan {
  const page = sourcesOf('page/*');
  const files = {
    ...sourcesOf('nginx.conf'),
    ...page,
    'page.conf': `map "" $page_version { default "${digestOf(page).slice(0, 16)}"; }\n`,
    'listen.conf': `listen 127.0.0.1:${port};\n`,
    'upstreams.conf': renderUpstreams(upstreams),
  };
  fs.mkdirSync(path.join(prefix, 'page'), { recursive: true });
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(prefix, name), text);

  return {
    name: 'edge',
    command: nginx,
    args: ['-e', 'stderr', '-p', prefix, '-c', 'nginx.conf', ...asRoot()],
    env: { PATH: process.env.PATH ?? '' },
    cwd: prefix,
    ports: [port],
    address: `http://localhost:${port}`,
    // The page needs no service: the edge is there even while all of them are away.
    readyUrl: `http://127.0.0.1:${port}/`,
    fingerprint: digestOf(files),
  };
}

function digestOf(files: Readonly<Record<string, string>>): string {
  return createHash('sha256').update(JSON.stringify(files)).digest('hex');
}

/** The text of files that are the same wherever the edge runs, by their names below the prefix. */
function sourcesOf(pattern: string): Record<string, string> {
  const folder = path.resolve(import.meta.dirname, '../nginx');
  const names = fs.globSync(pattern, { cwd: folder }).sort();
  return Object.fromEntries(
    names.map((name) => [name, fs.readFileSync(path.join(folder, name), 'utf8')]),
  );
}

/**
 * Started as root, nginx hands its work to a user who may not enter a checkout in root's home, and
 * could not read the page there: it stays who it is, as the services do.
 */
function asRoot(): string[] {
  const group = process.platform === 'darwin' ? 'wheel' : 'root';
  return process.getuid?.() === 0 ? ['-g', `user root ${group};`] : [];
}

/** How long the edge may take to turn to another configuration. */
const TURN_MS = 5_000;

/**
 * Turns the running edge away from the replica on the port `away`, or back to all of them. It is what
 * a cluster does with a pod that ends: a request on its way to a port that closes would be lost.
 * Resolves once no worker of nginx knows the old configuration.
 */
export async function turnEdge(
  edge: ProcessRecord,
  { prefix, upstreams, away }: Pick<EdgeOptions, 'prefix' | 'upstreams'> & { away?: number },
): Promise<void> {
  fs.writeFileSync(path.join(prefix, 'upstreams.conf'), renderUpstreams(upstreams, away));
  const old = childrenOf(edge.pid);
  process.kill(edge.pid, 'SIGHUP');
  const deadline = performance.now() + TURN_MS;
  while (childrenOf(edge.pid).some((pid) => old.includes(pid)) && performance.now() < deadline) {
    await sleep(20);
  }
}

function childrenOf(pid: number): readonly string[] {
  const lines = execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' }).split('\n');
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([parent]) => parent === String(pid))
    .map(([, child = '']) => child);
}
