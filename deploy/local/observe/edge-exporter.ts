import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import type { ProcessPlan } from '../processes/process.ts';

export interface EdgeExporterOptions {
  /** The path of statsd_exporter. */
  readonly command: string;
  /** The port of its metrics (TCP), and that of the packets of nginx (UDP). */
  readonly port: number;
}

/** How to run statsd_exporter, which counts the requests that nginx sends to it. */
export function planEdgeExporter({ command, port }: EdgeExporterOptions): ProcessPlan {
  const folder = path.resolve(import.meta.dirname, '../../nginx');
  const mapping = path.join(folder, 'statsd.yaml');
  const address = `127.0.0.1:${port}`;
  const args = [
    ...[`--statsd.mapping-config=${mapping}`, `--statsd.listen-udp=${address}`],
    ...['--statsd.listen-tcp=', `--web.listen-address=${address}`],
  ];
  return {
    name: 'edge-exporter',
    command,
    args,
    env: { PATH: process.env.PATH ?? '' },
    cwd: folder,
    ports: [port],
    address: `http://${address}`,
    readyUrl: `http://${address}/metrics`,
    fingerprint: createHash('sha256')
      .update(args.join(' '))
      .update(fs.readFileSync(mapping))
      .digest('hex'),
  };
}
