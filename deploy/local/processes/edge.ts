import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { type ServiceName, serviceOf } from '../../../services/services.ts';
import { type MeasuredReplica, renderMetrics, renderSystem } from './edge-metrics.ts';
import type { ProcessPlan } from './process.ts';

/** The ports of each service's replicas on this machine. */
export type Upstreams = Readonly<Record<ServiceName, readonly number[]>>;

/** Limits of the services, which the edge must not undercut. */
export interface EdgeLimits {
  /** The longest `REQUEST_TIMEOUT_MS` of the services; 0: no limit. */
  readonly requestTimeoutMs: number;
  /** The largest body that a service accepts, in bytes. */
  readonly bodyLimit: number;
}

/** tls.conf of an edge without a certificate: no response has `Strict-Transport-Security`. */
const NO_TLS = 'map "" $strict_transport_security { default ""; }\n';

/** The defaults of the services. */
const DEFAULT_LIMITS: EdgeLimits = { requestTimeoutMs: 20_000, bodyLimit: 1024 ** 2 };

export interface EdgeOptions {
  /** The path of nginx. */
  readonly nginx: string;
  readonly port: number;
  readonly upstreams: Upstreams;
  /** The folder of all files that the edge reads and writes. */
  readonly prefix: string;
  /** Default: the defaults of the services. */
  readonly limits?: Partial<EdgeLimits>;
  /** The replicas whose metrics the page plots. Default: none. */
  readonly replicas?: readonly MeasuredReplica[];
  /** Links of the page to other programs. Default: none. */
  readonly links?: Readonly<Record<string, string>>;
}

/** The limits that result from the variables in `env`. */
export function edgeLimitsOf(env: NodeJS.ProcessEnv): EdgeLimits {
  // The services reject an invalid number with a message.
  const read = (name: string, fallback: number) =>
    /^\d+$/.test(env[name] ?? '') ? Number(env[name]) : fallback;
  return {
    requestTimeoutMs: read('REQUEST_TIMEOUT_MS', DEFAULT_LIMITS.requestTimeoutMs),
    // Only users reads BODY_LIMIT; the other services accept the default.
    bodyLimit: Math.max(read('BODY_LIMIT', 0), DEFAULT_LIMITS.bodyLimit),
  };
}

/**
 * How long clients may keep an idle connection. A load balancer or gateway in front of the edge must close
 * first: many do so after 600 s.
 */
const KEEP_ALIVE_SECONDS = 620;

/** limits.conf. The chart `platform` renders the same from its values. */
export function renderLimits(limits: Partial<EdgeLimits> = {}): string {
  const { requestTimeoutMs, bodyLimit } = { ...DEFAULT_LIMITS, ...limits };
  // Longer than the service, whose 503 must reach the client. nginx has no unlimited time-out: a day.
  const seconds = requestTimeoutMs === 0 ? 86_400 : Math.ceil(requestTimeoutMs / 1000) + 10;
  return [
    `client_max_body_size ${bodyLimit};`,
    `proxy_read_timeout ${seconds}s;`,
    `proxy_send_timeout ${seconds}s;`,
    `keepalive_timeout ${KEEP_ALIVE_SECONDS}s;`,
    '',
  ].join('\n');
}

/**
 * Idle connections that nginx keeps to each service. With few, it closes connections whenever many
 * responses arrive at once, and opens new ones, which the service has to accept one after another.
 */
const IDLE_CONNECTIONS = 256;

/**
 * Maximum number of requests at all replicas of a service; the edge responds with 503 to further ones. A
 * replica of reports has to count a burst of requests of one user.
 */
const MAX_CONNECTIONS = 400;

/** upstreams.conf: two upstreams per service with all its replicas; critical requests have no limit. */
export function renderUpstreams(upstreams: Partial<Upstreams>): string {
  const all = Object.entries(upstreams).flatMap(([name, ports]) => {
    const limit = Math.floor(MAX_CONNECTIONS / serviceOf(name as ServiceName).replicas);
    return [
      { name, ports, limit: `max_conns=${limit} ` },
      { name: `${name}_critical`, ports, limit: '' },
    ];
  });
  const blocks = all.map(({ name, ports, limit }) => {
    const servers = ports
      .map((port) => `  server 127.0.0.1:${port} ${limit}fail_timeout=1s;\n`)
      .join('');
    // Shorter than the 5 s for which a stopping service keeps idle connections: nginx always closes
    // first, so that no request meets a closed connection.
    return `upstream ${name} {\n${servers}  keepalive ${IDLE_CONNECTIONS};\n  keepalive_timeout 3s;\n}\n`;
  });
  return blocks.join('\n');
}

/** Writes the configuration of the edge to `prefix`, and returns how to run nginx with it. */
export function planEdge(options: EdgeOptions): ProcessPlan {
  const { nginx, port, upstreams, prefix, limits, replicas = [], links = {} } = options;
  const page = {
    ...readSources('page/*'),
    'page/system.json': renderSystem(replicas, links),
  };
  const files = {
    ...readSources('nginx.conf'),
    ...page,
    'page.conf': `map "" $page_version { default "${digestOf(page).slice(0, 16)}"; }\n`,
    'listen.conf': `listen 127.0.0.1:${port};\n`,
    'tls.conf': NO_TLS,
    'upstreams.conf': renderUpstreams(upstreams),
    'limits.conf': renderLimits(limits),
    'locations/metrics.conf': renderMetrics(replicas),
  };
  for (const folder of ['page', 'locations']) {
    fs.mkdirSync(path.join(prefix, folder), { recursive: true });
  }
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(prefix, name), text);

  // Started as root, nginx runs its workers as another user, who may not read a checkout of root.
  const group = process.platform === 'darwin' ? 'wheel' : 'root';
  const stayRoot = process.getuid?.() === 0 ? ['-g', `user root ${group};`] : [];
  return {
    name: 'edge',
    command: nginx,
    args: ['-e', 'stderr', '-p', prefix, '-c', 'nginx.conf', ...stayRoot],
    env: { PATH: process.env.PATH ?? '' },
    cwd: prefix,
    ports: [port],
    address: `http://localhost:${port}`,
    // The page is served without any service, so the edge is ready before them.
    readyUrl: `http://127.0.0.1:${port}/`,
    fingerprint: digestOf(files),
  };
}

function digestOf(files: Readonly<Record<string, string>>): string {
  return createHash('sha256').update(JSON.stringify(files)).digest('hex');
}

/** The files of deploy/nginx that match `pattern`, by name. */
function readSources(pattern: string): Record<string, string> {
  const folder = path.resolve(import.meta.dirname, '../../nginx');
  const names = fs.globSync(pattern, { cwd: folder }).sort();
  return Object.fromEntries(
    names.map((name) => [name, fs.readFileSync(path.join(folder, name), 'utf8')]),
  );
}
