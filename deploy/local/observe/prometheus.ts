import fs from 'node:fs';
import path from 'node:path';

import type { ProcessPlan } from '../processes/process.ts';
import type { Replica } from '../processes/system.ts';

type Target = Pick<Replica, 'name' | 'healthPort'> & { readonly service: string };

/** The configuration: each target with the labels that it has on a cluster (ServiceMonitor). */
function renderPrometheus(targets: readonly Target[]): string {
  const config = {
    global: { scrape_interval: '5s' },
    scrape_configs: targets.map(({ name, service, healthPort }) => ({
      job_name: name,
      static_configs: [
        {
          targets: [`127.0.0.1:${healthPort}`],
          labels: {
            job: `${service}-metrics`,
            namespace: 'local',
            service: `${service}-metrics`,
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
  `label_replace(${rate}, "version", "$1", "route", "/api/(v[0-9]+)/.*")`;
const BUCKETS = byVersion('rate(http_request_duration_seconds_bucket{route=~"/api/.*"}[1m])');
const requestRate = (selector: string) =>
  `sum by (service, version) (${byVersion(`rate(http_requests_total{${selector}}[1m])`)})`;
const ALL = requestRate('route=~"/api/.*"');
const FAILED = requestRate('status="5xx",route=~"/api/.*"');

/** Requests per second, share of 5xx responses and 99th percentile in seconds, by service and version. */
export const QUERIES = [
  ALL,
  `(${FAILED} or ${ALL} * 0) / ${ALL}`,
  `histogram_quantile(0.99, sum by (service, version, le) (${BUCKETS}))`,
] as const;

/** The page of Prometheus at `origin` with a graph of each query. */
export function prometheusPage(origin: string): string {
  const parameters = QUERIES.flatMap((query, index) => [
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
  /** The folder of its configuration and data. */
  readonly folder: string;
}

/** Writes the configuration of Prometheus to `folder`, and returns how to run it. */
export function planPrometheus({ ports, replicas, folder }: PrometheusOptions): ProcessPlan {
  const { prometheus: port, edgeExporter: healthPort } = ports;
  const file = path.join(folder, 'prometheus.yml');
  const config = renderPrometheus([...replicas, { name: 'edge', service: 'edge', healthPort }]);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(file, config);
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
    fingerprint: config,
  };
}
