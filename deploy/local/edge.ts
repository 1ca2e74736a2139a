import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import type { ProcessPlan } from './process.ts';

/** The ports of each service's replicas on this machine. */
export type Upstreams = Readonly<Record<'users' | 'catalog' | 'reports', readonly number[]>>;

export interface EdgeOptions {
  readonly nginx: string;
  readonly port: number;
  readonly upstreams: Upstreams;
  /** Everything the edge reads and writes stands here. */
  readonly prefix: string;
}

/** The part of the edge's configuration that names the replicas. */
export function renderUpstreams(upstreams: Upstreams): string {
  return Object.entries(upstreams)
    .map(([name, ports]) => {
      const servers = ports.map((port) => `  server 127.0.0.1:${port} fail_timeout=1s;\n`).join('');
      // Shorter than the 75 s that a service keeps an idle connection: nginx is always first to
      // close, so no request meets a connection that the other side is closing.
      return `upstream ${name} {\n${servers}  keepalive 32;\n  keepalive_timeout 60s;\n}\n`;
    })
    .join('\n');
}

/** Writes the edge's configuration below `prefix`, and tells how to run nginx on it. */
export function planEdge({ nginx, port, upstreams, prefix }: EdgeOptions): ProcessPlan {
  const source = path.resolve(import.meta.dirname, '../nginx/nginx.conf');
  const files = {
    'nginx.conf': fs.readFileSync(source, 'utf8'),
    'listen.conf': `listen 127.0.0.1:${port};\n`,
    'upstreams.conf': renderUpstreams(upstreams),
  };
  fs.mkdirSync(prefix, { recursive: true });
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(prefix, name), text);

  return {
    name: 'edge',
    command: nginx,
    args: ['-e', 'stderr', '-p', prefix, '-c', 'nginx.conf'],
    env: { PATH: process.env.PATH ?? '' },
    cwd: prefix,
    ports: [port],
    address: `http://localhost:${port}`,
    readyUrl: `http://127.0.0.1:${port}/api/v1/catalog?limit=1`,
    fingerprint: createHash('sha256').update(JSON.stringify(files)).digest('hex'),
  };
}
