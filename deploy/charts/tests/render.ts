import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

import { parseAllDocuments, stringify } from 'yaml';
import { SERVICES } from '../../../services/services.ts';

import { ensureTool } from '../../local/tools.ts';
import { packCharts as copyAndPack, type HelmName } from '../dependencies.ts';

/** A rendered object. */
export interface Rendered {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: every kind has other fields, and tests read few of them
  readonly [field: string]: any;
}

/** Values of a chart, as in a values file. */
export type Values = Readonly<Record<string, unknown>>;

/** The result of a Helm command. */
export interface HelmRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A copy of the charts with packed dependencies. */
export interface PackedCharts extends Disposable {
  readonly folder: string;
  /** Runs Helm with `values` on standard input. */
  helm(args: readonly string[], values?: Values): HelmRun;
  /**
   * Renders `chart` with `values` as the release `fw` in the namespace `trial`.
   *
   * @throws {Error} with the message of Helm if it fails
   */
  render(chart: string, values?: Values): Rendered[];
}

/** Packs a copy of the charts with `tool`: test files run at the same time. */
export function packCharts(tool: HelmName = 'helm'): PackedCharts {
  const helm = ensureTool(tool);
  const folder = copyAndPack(tool);

  const run: PackedCharts['helm'] = (args, values = {}) =>
    spawnSync(helm, args, {
      cwd: folder,
      input: stringify(values, { version: '1.1' }),
      encoding: 'utf8',
    });

  return {
    folder,
    helm: run,
    render(chart, values) {
      const args = ['template', 'fw', chart, '--namespace', 'trial', '--values', '-'];
      const { status, stdout, stderr } = run(args, values);
      if (status !== 0) throw new Error(stderr);
      return readObjects(stdout);
    },
    [Symbol.dispose]() {
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Parses a stream of YAML documents. */
export function readObjects(text: string): Rendered[] {
  return parseAllDocuments(text, { uniqueKeys: true })
    .map((document): Rendered | null => {
      if (document.errors[0]) throw document.errors[0];
      return document.toJS();
    })
    .filter((object) => object !== null);
}

/**
 * The only object of `kind`, with `name` if there are several.
 *
 * @throws {Error} if there is none, or more than one
 */
export function only(objects: readonly Rendered[], kind: string, name?: string): Rendered {
  const found = objects.filter(
    (object) => object.kind === kind && (name === undefined || object.metadata.name === name),
  );
  const [object] = found;
  if (!object || found.length > 1) {
    throw new Error(`Cannot find one ${kind} ${name ?? ''}: there are ${found.length}`);
  }
  return object;
}

/** The required values of each chart. */
export const NEEDED: Readonly<Record<string, Values>> = Object.fromEntries(
  SERVICES.map(({ name, authenticated }) => [
    name,
    authenticated ? { jwt: { secret: 'a secret of thirty-two characters' } } : {},
  ]),
);

/** Values with two pods and stores that pods share. */
export const SHARED: Readonly<Record<string, Values>> = Object.fromEntries(
  SERVICES.map(({ name, store }) => {
    const stores = {
      database: {
        store: { type: 'postgres', postgres: { url: `postgres://u:p@db:5433/${name}` } },
      },
      counters: { rateLimit: { store: 'redis', redis: { url: 'redis://:p@cache:6380' } } },
    };
    return [name, { ...NEEDED[name], replicaCount: 2, ...stores[store] }];
  }),
);

/** Enables every optional feature of a service's chart; needs the values in `SHARED`. */
export const EVERYTHING: Values = {
  autoscaling: { enabled: true, requestsPerSecond: 50 },
  ingress: { enabled: true, hosts: [{ host: 'api.example.org' }] },
  httpRoute: {
    enabled: true,
    parentRefs: [{ name: 'public' }],
    hostnames: ['api.example.org'],
    others: [{ name: 'next', weight: 10 }],
  },
  networkPolicy: { from: [{ podSelector: { matchLabels: { app: 'gateway' } } }] },
  metrics: {
    serviceMonitor: { enabled: true },
    prometheusRule: { enabled: true },
    dashboard: { enabled: true },
  },
};
