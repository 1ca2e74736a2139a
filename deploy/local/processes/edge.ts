import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ServiceName } from '../../../services/services.ts';
import type { ProcessPlan, ProcessRecord } from './process.ts';

/** The ports of each service's replicas on this machine. */
export type Upstreams = Readonly<Record<ServiceName, readonly number[]>>;

/** What the services allow a request, which the edge must allow too. */
export interface EdgeLimits {
  /** The longest `REQUEST_TIMEOUT_MS` of the services; 0: no limit. */
  readonly requestTimeoutMs: number;
  /** The largest body that a service accepts, in bytes. */
  readonly bodyLimit: number;
}

/** The defaults of the services. */
const DEFAULT_LIMITS: EdgeLimits = { requestTimeoutMs: 20_000, bodyLimit: 1024 ** 2 };

export interface EdgeOptions {
  readonly nginx: string;
  readonly port: number;
  readonly upstreams: Upstreams;
  /** The folder of everything that the edge reads and writes. */
  readonly prefix: string;
  /** Default: those of services without any variable. */
  readonly limits?: Partial<EdgeLimits>;
}

/** The limits that `env` sets for the services of `make up`. */
export function edgeLimitsOf(env: NodeJS.ProcessEnv): EdgeLimits {
  // What is not a number, the services themselves refuse with a message.
  const read = (name: string, fallback: number) =>
    /^\d+$/.test(env[name] ?? '') ? Number(env[name]) : fallback;
  return {
    requestTimeoutMs: read('REQUEST_TIMEOUT_MS', DEFAULT_LIMITS.requestTimeoutMs),
    // The services other than users accept 1 MiB.
    bodyLimit: Math.max(read('BODY_LIMIT', 0), DEFAULT_LIMITS.bodyLimit),
  };
}

/** The part of the edge's configuration that is derived from the limits of the services. */
export function renderLimits(limits: Partial<EdgeLimits> = {}): string {
  const { requestTimeoutMs, bodyLimit } = { ...DEFAULT_LIMITS, ...limits };
  // The service ends a request that takes too long: the edge waits longer, for the 503. nginx knows no
  // unlimited wait, so a request without a time limit has a day.
  const seconds = requestTimeoutMs === 0 ? 86_400 : Math.ceil(requestTimeoutMs / 1000) + 10;
  return [
    `client_max_body_size ${bodyLimit};`,
    `proxy_read_timeout ${seconds}s;`,
    `proxy_send_timeout ${seconds}s;`,
    '',
  ].join('\n');
}

/** Whether `nginx` knows `keepalive_min_timeout`, which is in nginx from 1.27.4 on. */
function hasKeepaliveMinTimeout(nginx: string): boolean {
  // The version is on standard error.
  const { stderr } = spawnSync(nginx, ['-v'], { encoding: 'utf8' });
  const [major = 0, minor = 0, patch = 0] =
    /nginx\/(\d+)\.(\d+)\.(\d+)/
      .exec(stderr ?? '')
      ?.slice(1)
      .map(Number) ?? [];
  return major > 1 || (major === 1 && (minor > 27 || (minor === 27 && patch >= 4)));
}

/**
 * On a reload, nginx closes idle connections although a request may be on its way in them. With this it
 * leaves them open for a while; for less than `TURN_MS`, so that no worker keeps the old configuration
 * after a turn.
 */
const KEEPALIVE_MIN = 'keepalive_min_timeout 3s;\n';

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
export function planEdge(options: EdgeOptions): ProcessPlan {
  const { nginx, port, upstreams, prefix, limits } = options;
  const page = sourcesOf('page/*');
  const files = {
    ...sourcesOf('nginx.conf'),
    ...page,
    'page.conf': `map "" $page_version { default "${digestOf(page).slice(0, 16)}"; }\n`,
    'listen.conf': `listen 127.0.0.1:${port};\n${hasKeepaliveMinTimeout(nginx) ? KEEPALIVE_MIN : ''}`,
    'upstreams.conf': renderUpstreams(upstreams),
    'limits.conf': renderLimits(limits),
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
  const folder = path.resolve(import.meta.dirname, '../../nginx');
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
