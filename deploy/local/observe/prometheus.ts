import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import type { ProcessPlan } from '../processes/process.ts';
import type { Replica } from '../processes/system.ts';
import { NAMESPACE, RELEASE } from './rules.ts';

type Target = Pick<Replica, 'name' | 'healthPort'> & { readonly service: string };

/** The configuration: each target with the labels that it has on a cluster (ServiceMonitor). */
function renderPrometheus(targets: readonly Target[]): string {
  const config = {
    global: { scrape_interval: '5s', evaluation_interval: '5s' },
    rule_files: ['rules/*.yml'],
    scrape_configs: targets.map(({ name, service, healthPort }) => ({
      job_name: name,
      static_configs: [
        {
          targets: [`127.0.0.1:${healthPort}`],
          labels: {
            job: `${RELEASE}-${service}-metrics`,
            namespace: NAMESPACE,
            service: `${RELEASE}-${service}-metrics`,
            pod: name,
          },
        },
      ],
    })),
  };
  // JSON is YAML.
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** Adds the label `version`, which the path of the route contains: `/api/v2/users`. */
const byVersion = (rate: string) =>
  `label_replace(${rate}, "version", "$1", "http_route", "/api/(v[0-9]+)/.*")`;
const REQUESTS = 'http_server_request_duration_seconds';
const BUCKETS = byVersion(`rate(${REQUESTS}_bucket{http_route=~"/api/.*"}[1m])`);
const requestRate = (selector: string) =>
  `sum by (service, version) (${byVersion(`rate(${REQUESTS}_count{${selector}}[1m])`)})`;
const ALL = requestRate('http_route=~"/api/.*"');
const FAILED = requestRate('error_type!="",http_route=~"/api/.*"');

/** Requests per second, share of 5xx responses and 99th percentile in seconds, by service and version. */
export const QUERIES = [
  ALL,
  `(${FAILED} or ${ALL} * 0) / ${ALL}`,
  `histogram_quantile(0.99, sum by (service, version, le) (${BUCKETS}))`,
] as const;

/** The page of Prometheus at `origin` with a graph of each query, and of the alerts that fire. */
export function prometheusPage(origin: string): string {
  const parameters = [...QUERIES, 'ALERTS'].flatMap((query, index) => [
    [`g${index}.expr`, query],
    [`g${index}.tab`, '0'],
    [`g${index}.range_input`, '15m'],
  ]);
  return `${origin}/graph?${new URLSearchParams(parameters)}`;
}

export interface PrometheusOptions {
  /** Its own port, and that of the exporter of the edge. */
  readonly ports: { readonly prometheus: number; readonly edgeExporter: number };
  readonly replicas: readonly Replica[];
  /** Files with alert rules. */
  readonly rules: readonly string[];
  /** The folder of its configuration and data. */
  readonly folder: string;
}

/** Writes the configuration of Prometheus to `folder`, and returns how to run it. */
export function planPrometheus(options: PrometheusOptions): ProcessPlan {
  const { ports, replicas, rules, folder } = options;
  const { prometheus: port, edgeExporter: healthPort } = ports;
  const file = path.join(folder, 'prometheus.yml');
  const config = renderPrometheus([...replicas, { name: 'edge', service: 'edge', healthPort }]);
  fs.rmSync(path.join(folder, 'rules'), { recursive: true, force: true });
  fs.mkdirSync(path.join(folder, 'rules'), { recursive: true });
  fs.writeFileSync(file, config);
  for (const [index, text] of rules.entries()) {
    fs.writeFileSync(path.join(folder, `rules/${index}.yml`), text);
  }
  return {
    name: 'prometheus',
    command: 'prometheus',
    args: [
      `--config.file=${file}`,
      `--storage.tsdb.path=${path.join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    env: { PATH: process.env.PATH ?? '' },
    cwd: folder,
    ports: [port],
    address: `http://localhost:${port}`,
    readyUrl: `http://127.0.0.1:${port}/-/ready`,
    fingerprint: createHash('sha256')
      .update([config, ...rules].join())
      .digest('hex'),
  };
}
