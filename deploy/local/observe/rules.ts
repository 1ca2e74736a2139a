import path from 'node:path';

import { parseAllDocuments } from 'yaml';

import { runProgram } from '../cluster/program.ts';

/** The release and the namespace in the labels of the metrics, by which the alert rules select them. */
export const RELEASE = 'fw';
export const NAMESPACE = 'local';

/** An object that Helm renders. */
interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

/**
 * The alert rules of the services, as the chart `platform` renders them for a cluster: each is a file for Prometheus, in
 * JSON, which is YAML. Those of the edge are left out: one of them fires without requests, which the probes of a
 * cluster send.
 *
 * @throws {Error} with the message of Helm, if it fails
 */
export async function renderRules(): Promise<readonly string[]> {
  const chart = path.resolve(import.meta.dirname, '../../charts/platform');
  const metrics = { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } };
  const output = await runProgram(
    'helm',
    ['template', RELEASE, chart, '--namespace', NAMESPACE, '--values', '-'],
    { input: JSON.stringify({ global: { metrics } }) },
  );
  return parseAllDocuments(output)
    .map((document): Rendered | null => document.toJS())
    .filter((object) => object?.kind === 'PrometheusRule')
    .filter((object) => object?.metadata.name !== `${RELEASE}-edge`)
    .map((object) => JSON.stringify(object?.spec, undefined, 2));
}
