import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { parseAllDocuments, stringify } from 'yaml';

import { ensureTool } from '../../../tools/programs.ts';

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

const FOLDER = path.resolve(import.meta.dirname, '..');

/** The charts of this checkout. */
export const charts = {
  /** Runs Helm in the folder of the charts, with `values` on standard input. */
  helm(args: readonly string[], values: Values = {}) {
    const input = stringify(values, { version: '1.1' });
    return spawnSync(ensureTool('helm'), args, { cwd: FOLDER, input, encoding: 'utf8' });
  },

  /** The error of rendering a chart as the release `fw`; empty if it renders. */
  errorOf(chart: string, values: Values): string {
    const { status, stderr } = charts.helm(['template', 'fw', chart, '--values', '-'], values);
    return status === 0 ? '' : stderr;
  },

  /**
   * Renders a chart with `values`, by default as the release `fw` in the namespace `trial`.
   *
   * @param chart its name, or the path of another folder or of a package
   * @throws {Error} with the message of Helm if it fails
   */
  render(
    chart: string,
    values: Values = {},
    { release = 'fw', namespace = 'trial' }: { release?: string; namespace?: string } = {},
  ): Rendered[] {
    const args = ['template', release, chart, '--namespace', namespace, '--values', '-'];
    const { status, stdout, stderr } = charts.helm(args, values);
    if (status !== 0) throw new Error(stderr);
    return readObjects(stdout);
  },
};

/** Parses a stream of YAML documents as Kubernetes does, in which `no` and `on` are booleans. */
export function readObjects(text: string): Rendered[] {
  return parseAllDocuments(text, { uniqueKeys: true, version: '1.1' })
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

/** All objects of `kind`. */
export function all(objects: readonly Rendered[], kind: string): Rendered[] {
  return objects.filter((object) => object.kind === kind);
}

/** The names of all objects of `kind`. */
export function namesOf(objects: readonly Rendered[], kind: string): string[] {
  return all(objects, kind).map(({ metadata }) => metadata.name);
}

/** The pods of a Deployment, a StatefulSet or a test. */
export interface Pods {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: Rendered['spec'];
}

/** All pods that `objects` create. */
export function podsOf(objects: readonly Rendered[]): Pods[] {
  return objects.flatMap(({ kind, metadata, spec }) => {
    if (kind === 'Pod') return [{ name: metadata.name, labels: metadata.labels ?? {}, spec }];
    if (!['Deployment', 'Rollout', 'StatefulSet'].includes(kind)) return [];
    const { template } = spec;
    return [{ name: metadata.name, labels: template.metadata.labels, spec: template.spec }];
  });
}

/** The pods of the workload called `name`. */
export function podOf(objects: readonly Rendered[], name: string): Rendered['spec'] {
  return podsOf(objects).find((pods) => pods.name === name)?.spec;
}

/** The variables of a container; those from a Secret have no text. */
export function variablesOf(container: Rendered): Record<string, string> {
  const variables: Rendered[] = container.env ?? [];
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
}

/** The pods that a selector matches. */
export function selected(pods: readonly Pods[], selector: Readonly<Record<string, string>>) {
  return pods.filter(({ labels }) =>
    Object.entries(selector).every(([name, text]) => labels[name] === text),
  );
}
