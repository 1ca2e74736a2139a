import { setTimeout as sleep } from 'node:timers/promises';

import { ensureTool } from '../tools.ts';
import type { Event, Pod } from './pod.ts';
import { type RunOptions, runProgram } from './program.ts';

/** What a list of Kubernetes holds; whoever reads it says what that is. */
interface List<Item> {
  readonly items: readonly Item[];
}

/** What is read of a node. */
export interface Node {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly unschedulable?: boolean; readonly taints?: readonly object[] };
  readonly status: {
    readonly addresses: readonly { readonly type: string; readonly address: string }[];
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Runs kubectl and helm on the cluster that `KUBECONFIG` names, until `signal` ends that. */
export interface Cluster {
  readonly signal: AbortSignal;
  kubectl(args: readonly string[], input?: string): Promise<string>;
  helm(args: readonly string[], input?: string): Promise<string>;
  /** Makes or changes objects, given as Kubernetes has them. */
  apply(...objects: readonly object[]): Promise<void>;
  /** Reads one object, or a list of them, as Kubernetes has it. */
  read<T>(...args: readonly string[]): Promise<T>;
  nodes(): Promise<readonly Node[]>;
  pods(namespace: string, selector?: string): Promise<readonly Pod[]>;
  /** The pods of a node, in all namespaces. */
  podsOn(node: string): Promise<readonly Pod[]>;
  events(namespace: string): Promise<readonly Event[]>;
}

/** Gives the cluster that `env` names; its programs end when `signal` says so. */
export function createCluster(signal: AbortSignal, env = process.env): Cluster {
  const run = (program: string, args: readonly string[], options: RunOptions = {}) =>
    runProgram(program, args, { signal, env, ...options });
  const kubectl = (args: readonly string[], input?: string) =>
    run('kubectl', ['--request-timeout=30s', ...args], { input }).catch(explainMissing);
  const read = async <T>(...args: readonly string[]): Promise<T> =>
    JSON.parse(await kubectl(['get', '--output=json', ...args]));
  const list = async <T>(...args: readonly string[]) => (await read<List<T>>(...args)).items;

  return {
    signal,
    kubectl,
    helm: (args, input) => run(ensureTool('helm'), args, { input }),
    async apply(...items) {
      const all = { apiVersion: 'v1', kind: 'List', items };
      await kubectl(['apply', '--server-side', '--filename=-'], JSON.stringify(all));
    },
    read,
    nodes: () => list('nodes'),
    pods: (namespace, selector = '') =>
      list('pods', '--namespace', namespace, '--selector', selector),
    podsOn: (node) => list('pods', '--all-namespaces', `--field-selector=spec.nodeName=${node}`),
    events: (namespace) => list('events', '--namespace', namespace),
  };
}

function explainMissing(error: unknown): never {
  const { cause } = error instanceof Error ? error : {};
  if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')) throw error;
  const page = 'https://kubernetes.io/docs/tasks/tools';
  throw new Error(`kubectl is missing: install it (${page}), then run this again`, { cause });
}

export interface WaitOptions {
  readonly cluster: Cluster;
  /** What is waited for, as part of a sentence. */
  readonly what: string;
  readonly seconds: number;
  /** How long to wait between two looks, in milliseconds. Default 500. */
  readonly everyMs?: number;
}

/**
 * Looks again and again until `look` gives something; rejections of it count as nothing yet.
 *
 * @throws {Error} naming what did not come about in time, and what was seen last
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
      const seen = await look();
      if (seen !== undefined) return seen;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await sleep(everyMs, undefined, { signal: cluster.signal });
  }
  const seen = last instanceof Error ? `: ${last.message}` : '';
  throw new Error(`Waited ${seconds} s for ${what}${seen}`, { cause: last });
}

/** Whether a node is there and takes pods. */
export function isUsable({ spec, status }: Node): boolean {
  const ready = status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  return ready && !spec.unschedulable && !spec.taints?.length;
}

/** The address of a node inside its network. */
export function addressOf({ status }: Node): string {
  return status.addresses.find(({ type }) => type === 'InternalIP')?.address ?? 'localhost';
}
