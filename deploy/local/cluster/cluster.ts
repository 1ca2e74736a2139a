import { setTimeout as sleep } from 'node:timers/promises';

import type { Pod } from './pod.ts';
import { type RunOptions, runProgram } from './program.ts';

/** A list of Kubernetes objects. */
interface List<Item> {
  readonly items: readonly Item[];
}

/** Runs kubectl and helm on a cluster, until `signal` is aborted. */
export interface Cluster {
  readonly signal: AbortSignal;
  kubectl(args: readonly string[], input?: string): Promise<string>;
  helm(args: readonly string[], input?: string): Promise<string>;
  /** Creates or updates objects. */
  apply(...objects: readonly object[]): Promise<void>;
  /** Reads an object or a list of objects. */
  read<T>(...args: readonly string[]): Promise<T>;
  pods(namespace: string, selector?: string): Promise<readonly Pod[]>;
}

/** Returns the cluster of `KUBECONFIG` in `env`. */
export function createCluster(signal: AbortSignal, env = process.env): Cluster {
  const run = (program: string, args: readonly string[], options: RunOptions = {}) =>
    runProgram(program, args, { signal, env, ...options });
  const kubectl = (args: readonly string[], input?: string) =>
    run('kubectl', ['--request-timeout=30s', ...args], { input });
  const read = async <T>(...args: readonly string[]): Promise<T> =>
    JSON.parse(await kubectl(['get', '--output=json', ...args]));
  const list = async <T>(...args: readonly string[]) => (await read<List<T>>(...args)).items;

  return {
    signal,
    kubectl,
    helm: (args, input) => run('helm', args, { input }),
    async apply(...items) {
      const all = { apiVersion: 'v1', kind: 'List', items };
      await kubectl(['apply', '--server-side', '--filename=-'], JSON.stringify(all));
    },
    read,
    pods: (namespace, selector = '') =>
      list('pods', '--namespace', namespace, '--selector', selector),
  };
}

export interface WaitOptions {
  readonly cluster: Cluster;
  /** The object of "Waited 30 s for …". */
  readonly what: string;
  readonly seconds: number;
  /** Interval in milliseconds. Default 500. */
  readonly everyMs?: number;
}

/**
 * Calls `look` until it returns a value; undefined and errors mean "not yet".
 *
 * @throws {Error} with `what` and the last error, after `seconds`
 */
export async function waitFor<T>(
  { cluster, what, seconds, everyMs = 500 }: WaitOptions,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const end = Date.now() + seconds * 1000;
  let last: unknown;
  while (Date.now() < end) {
    cluster.signal.throwIfAborted();
    try {
      const value = await look();
      if (value !== undefined) return value;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await sleep(everyMs, undefined, { signal: cluster.signal });
  }
  const reason = last instanceof Error ? `: ${last.message}` : '';
  throw new Error(`Waited ${seconds} s for ${what}${reason}`, { cause: last });
}
