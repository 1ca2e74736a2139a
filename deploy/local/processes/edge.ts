import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { type ServiceName, serviceOf } from '../../../services/services.ts';
import type { ProcessPlan } from './process.ts';

/** A replica whose metrics the page of the edge plots. */
interface MeasuredReplica {
  readonly name: string;
  readonly service: string;
  readonly healthPort: number;
}

/** The ports of each service's replicas on this machine. */
export type Upstreams = Readonly<Record<ServiceName, readonly number[]>>;

export interface EdgeOptions {
  /** The path of nginx. */
  readonly nginx: string;
  readonly port: number;
  readonly upstreams: Upstreams;
  /** The folder of all files that the edge reads and writes. */
  readonly prefix: string;
  /** Directives that replace those of settings.conf. Default: none. */
  readonly limits?: readonly string[];
  /** The replicas whose metrics the page plots. Default: none. */
  readonly replicas?: readonly MeasuredReplica[];
  /** Links of the page to other programs. Default: none. */
  readonly links?: Readonly<Record<string, string>>;
  /** The UDP port of statsd_exporter, which receives the metrics. Default: no metrics. */
  readonly statsdPort?: number | undefined;
}

/** The directives that the variables of the services in `env` require. */
export function edgeLimitsOf(env: NodeJS.ProcessEnv): readonly string[] {
  // The services reject an invalid number with a message.
  const read = (name: string) => (/^\d+$/.test(env[name] ?? '') ? Number(env[name]) : undefined);
  const [timeoutMs, bodyLimit] = [read('REQUEST_TIMEOUT_MS'), read('BODY_LIMIT')];
  const limits: string[] = [];
  if (timeoutMs !== undefined) {
    // Longer than the service, whose 503 must reach the client. nginx has no unlimited time-out: a day.
    const seconds = timeoutMs === 0 ? 86_400 : Math.ceil(timeoutMs / 1000) + 10;
    limits.push(`proxy_read_timeout ${seconds}s;`, `proxy_send_timeout ${seconds}s;`);
  }
  // Only users reads BODY_LIMIT; the other services accept 1 MiB.
  if (bodyLimit && bodyLimit > 1024 ** 2) limits.push(`client_max_body_size ${bodyLimit};`);
  return limits;
}

/**
 * Idle connections that nginx keeps to each service. With few, it closes connections whenever many
 * responses arrive at once, and opens new ones, which the service has to accept one after another.
 */
const IDLE_CONNECTIONS = 256;

/**
 * Maximum number of requests at one replica; the edge responds with 503 to further ones. A service that counts
 * requests by user has to see a burst of them, to respond with 429, which costs little.
 */
const MAX_CONNECTIONS = { database: 200, counters: 400 };

/** upstreams.conf: the map of names, and two upstreams per service; critical requests have no limit. */
function renderUpstreams(upstreams: Upstreams): string {
  const names = Object.keys(upstreams) as ServiceName[];
  const entries = names.map((name) => `  ${name} ${name};\n`).join('');
  const blocks = names.flatMap((name) => {
    const limit = MAX_CONNECTIONS[serviceOf(name).store];
    return [
      renderUpstream(name, upstreams[name], `max_conns=${limit} `),
      renderUpstream(`${name}_critical`, upstreams[name], ''),
    ];
  });
  return [`map $service_name $service {\n  default "";\n${entries}}\n`, ...blocks].join('\n');
}

function renderUpstream(name: string, ports: readonly number[], limit: string): string {
  const servers = ports.map((port) => `  server 127.0.0.1:${port} ${limit}fail_timeout=1s;\n`);
  // Less than DRAIN_IDLE_MS, for which a stopping service serves idle connections: nginx always closes first.
  return `upstream ${name} {\n${servers.join('')}  keepalive ${IDLE_CONNECTIONS};\n  keepalive_timeout 3s;\n}\n`;
}

/**
 * settings.conf of this machine, with `limits`: all clients are local, so the services, which call each other
 * through the edge, may continue their traces, and every trace is sampled.
 */
function renderSettings({ limits = [], statsdPort }: EdgeOptions): string {
  const { 'settings.conf': defaults = '' } = readSources('settings.conf');
  const lines = [
    ...limits,
    'map "" $trust_traceparent { default 1; }',
    'split_clients $request_id $trace_flags { * 01; }',
    ...(statsdPort
      ? [`access_log syslog:server=127.0.0.1:${statsdPort},nohostname,tag=edge metrics;`]
      : []),
  ];
  return lines.reduce(replaceSetting, defaults);
}

/** Replaces the line with the same directive, which may be commented out. */
function replaceSetting(settings: string, line: string): string {
  const [name = ''] = line.split(' ');
  const current = new RegExp(`^(# )?${name} .*;.*$`, 'm');
  if (!current.test(settings)) throw new Error(`Cannot find "${name}" in settings.conf`);
  // A function, because "$" has a meaning in a text.
  return settings.replace(current, () => line);
}

/** The metrics of each replica, below the path of the page. */
function renderMetrics(replicas: readonly MeasuredReplica[]): readonly string[] {
  return replicas.map(
    ({ name, healthPort }) => `location = /page/metrics/${name} {
  proxy_pass http://127.0.0.1:${healthPort}/metrics;
  access_log off;
  error_page 502 504 @problem;
}`,
  );
}

/** page/system.json: the services, the replicas of each by name, and links to other programs. */
function renderSystem(
  services: readonly string[],
  replicas: readonly MeasuredReplica[],
  links: Readonly<Record<string, string>>,
): string {
  const byService = Object.groupBy(replicas, ({ service }) => service);
  const names = Object.entries(byService).map(([service, ones = []]) => [
    service,
    ones.map(({ name }) => name),
  ]);
  return `${JSON.stringify({ services, replicas: Object.fromEntries(names), links })}\n`;
}

/** Writes the configuration of the edge to `prefix`, and returns how to run nginx with it. */
export function planEdge(options: EdgeOptions): ProcessPlan {
  const { nginx, port, upstreams, prefix, replicas = [], links = {} } = options;
  const page = {
    ...readSources('page/*'),
    'page/system.json': renderSystem(Object.keys(upstreams), replicas, links),
  };
  const listen = [
    `listen 127.0.0.1:${port};`,
    `set $page_etag '"${digestOf(page).slice(0, 16)}"';`,
    ...renderMetrics(replicas),
  ];
  const files = {
    ...readSources('*.conf'),
    ...page,
    'settings.conf': renderSettings(options),
    'listen.conf': `${listen.join('\n')}\n`,
    'upstreams.conf': renderUpstreams(upstreams),
  };
  fs.mkdirSync(path.join(prefix, 'page'), { recursive: true });
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
