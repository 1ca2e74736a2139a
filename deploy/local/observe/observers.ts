import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import type { ProcessPlan } from '../processes/process.ts';
import type { Replica } from '../processes/system.ts';
import { type Folders, readRunning } from '../state.ts';
import { planEdgeExporter } from './edge-exporter.ts';
import { planPrometheus, prometheusPage } from './prometheus.ts';
import { renderRules } from './rules.ts';
import { ensureZipkin, planZipkin } from './zipkin.ts';

/** The ports of the observers; next to an edge on 8080, Prometheus has 9090, Zipkin 9411. */
export function observerPorts(edgePort: number) {
  return {
    prometheus: edgePort + 1_010,
    edgeExporter: edgePort + 1_022,
    collector: edgePort + 1_318,
    zipkin: edgePort + 1_331,
  };
}

/** Whether Prometheus and Zipkin run: they stay until "make down". */
export function isObserved(run: string): boolean {
  return readRunning(run).some(({ name }) => name === 'zipkin');
}

/** The address to which the services send spans (`OTEL_EXPORTER_OTLP_ENDPOINT`). */
export function collectorUrl(edgePort: number): string {
  return `http://127.0.0.1:${observerPorts(edgePort).collector}`;
}

/** The links to Prometheus and Zipkin, by their titles. */
export function observerLinks(edgePort: number): Readonly<Record<string, string>> {
  const { prometheus, zipkin } = observerPorts(edgePort);
  return {
    Prometheus: prometheusPage(`http://localhost:${prometheus}`),
    Traces: `http://localhost:${zipkin}/zipkin/`,
  };
}

export interface ObserverOptions {
  readonly folders: Folders;
  readonly edgePort: number;
  readonly replicas: readonly Replica[];
  /** Receives a line of progress. */
  readonly log: (line: string) => void;
}

/**
 * How to run Prometheus, Zipkin, and the exporter and the collector, which receive from edge and services.
 *
 * @throws {Error} with installation instructions, if a program is missing
 */
export async function planObservers(options: ObserverOptions): Promise<ProcessPlan[]> {
  const { folders, edgePort, replicas, log } = options;
  const ports = observerPorts(edgePort);
  const folder = (name: string) => path.join(folders.run, name);
  const jar = await ensureZipkin(path.join(folders.root, '.local'), log);
  return [
    planPrometheus({ ports, replicas, rules: await renderRules(), folder: folder('prometheus') }),
    planEdgeExporter({ command: 'statsd_exporter', port: ports.edgeExporter }),
    planZipkin({ jar, port: ports.zipkin, folder: folder('zipkin') }),
    planCollector(options),
  ];
}

function planCollector({ folders, edgePort }: ObserverOptions): ProcessPlan {
  const { collector: port, zipkin } = observerPorts(edgePort);
  const program = path.join(import.meta.dirname, 'collector.ts');
  return {
    name: 'collector',
    command: process.execPath,
    args: [program, `--port=${port}`, `--zipkin=http://127.0.0.1:${zipkin}`],
    env: { PATH: process.env.PATH ?? '' },
    cwd: folders.run,
    ports: [port],
    address: `http://127.0.0.1:${port}`,
    readyUrl: `http://127.0.0.1:${port}/`,
    fingerprint: createHash('sha256').update(fs.readFileSync(program)).digest('hex'),
  };
}
