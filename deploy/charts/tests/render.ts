import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { parseAllDocuments, stringify } from 'yaml';

import { ensureTool } from '../../local/tools.ts';
import { CHARTS, type HelmName, packDependencies } from '../dependencies.ts';

/** An object that a chart renders. */
export interface Rendered {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: each kind of object has fields of its own, and tests look at few
  readonly [field: string]: any;
}

/** Values of a chart, as a values file has them. */
export type Values = Readonly<Record<string, unknown>>;

/** What Helm makes of a chart with some values: what it prints and says, and how it ends. */
export interface HelmRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The charts with what they need packed, in a folder of a test's own. */
export interface PackedCharts extends Disposable {
  readonly folder: string;
  /** Runs Helm, with `values` on its standard input. */
  helm(args: readonly string[], values?: Values): HelmRun;
  /**
   * The objects of `chart` with `values`, as a release called `fw` in the namespace `trial`.
   *
   * @throws {Error} with what Helm says, if it refuses
   */
  render(chart: string, values?: Values): Rendered[];
}

/** Packs a copy, because other tests do the same at the same time; `tool` packs, and renders. */
export function packCharts(tool: HelmName = 'helm'): PackedCharts {
  const helm = ensureTool(tool);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'charts-'));
  fs.cpSync(CHARTS, folder, {
    recursive: true,
    dereference: true,
    filter: (file) => !file.endsWith('.tgz') && !file.endsWith('.ts'),
  });
  packDependencies(folder, tool);

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

/** The objects of a stream of YAML documents. */
export function readObjects(text: string): Rendered[] {
  return parseAllDocuments(text, { uniqueKeys: true })
    .map((document): Rendered | null => {
      if (document.errors[0]) throw document.errors[0];
      return document.toJS();
    })
    .filter((object) => object !== null);
}

/**
 * The one object of `kind`, and of `name` where there are several.
 *
 * @throws {Error} if there is none, or more than one
 */
export function only(objects: readonly Rendered[], kind: string, name?: string): Rendered {
  const found = objects.filter(
    (object) => object.kind === kind && (name === undefined || object.metadata.name === name),
  );
  const [object] = found;
  if (!object || found.length > 1) {
    throw new Error(`Cannot choose a ${kind} ${name ?? ''}: there are ${found.length}`);
  }
  return object;
}

/** What a chart cannot be installed without. */
export const NEEDED: Readonly<Record<string, Values>> = {
  users: {},
  catalog: {},
  reports: { jwt: { secret: 'a secret of thirty-two characters' } },
};

/** The same with stores that several pods can share. */
export const SHARED: Readonly<Record<string, Values>> = {
  users: {
    replicaCount: 2,
    store: { type: 'postgres', postgres: { url: 'postgres://u:p@db:5433/users' } },
  },
  catalog: {
    replicaCount: 2,
    store: { type: 'postgres', postgres: { url: 'postgres://u:p@db:5433/catalog' } },
  },
  reports: {
    ...NEEDED.reports,
    replicaCount: 2,
    rateLimit: { store: 'redis', redis: { url: 'redis://:p@cache:6380' } },
  },
};

/** What a service's chart has switched off, beside the shared stores that it needs. */
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
