import net from 'node:net';

import { type Images, readImages } from '../../deploy/local/cluster/images.ts';

/** The namespace and the name of an object. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** The variables of `make e2e`, described in README.md. */
export interface Settings extends Images {
  /** The address at which this machine reaches the ports of nodes. Default: that of a node. */
  readonly nodeHost: string | undefined;
  /** Whether a node with other workloads may be drained or killed. */
  readonly allowNodes: boolean;
  /** The commands that cut the power of a node and start it; the node's name is appended. */
  readonly killNode: string | undefined;
  readonly startNode: string | undefined;
  readonly gateway: ObjectName | undefined;
  readonly ingressClass: string | undefined;
  /** The Deployment of the controller of both. */
  readonly controller: ObjectName | undefined;
  /** The address of the controller, with a host name. */
  readonly controllerAddress: string | undefined;
  /** Requests per second during changes. */
  readonly streamRate: number;
  /** The minimum number of requests during the changes of `platform`. */
  readonly streamRequests: number;
  /** Whether the long forms run. */
  readonly full: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings from the environment.
 *
 * @throws {Error} that names the variable with a wrong value
 */
export function readSettings(env: Environment): Settings {
  if (Boolean(env.KILL_NODE) !== Boolean(env.START_NODE)) {
    throw new Error('KILL_NODE and START_NODE belong together: expected both or neither');
  }
  const full = readSwitch(env, 'FULL');
  return {
    ...readImages(env),
    nodeHost: env.NODE_HOST || undefined,
    allowNodes: readSwitch(env, 'E2E_ALLOW_NODES'),
    killNode: env.KILL_NODE || undefined,
    startNode: env.START_NODE || undefined,
    gateway: readObjectName(env, 'GATEWAY'),
    ingressClass: env.INGRESS_CLASS || undefined,
    controller: readObjectName(env, 'CONTROLLER'),
    controllerAddress: readAddress(env, 'CONTROLLER_ADDRESS'),
    streamRate: readCount(env, 'STREAM_RATE', 300),
    streamRequests: readCount(env, 'STREAM_REQUESTS', full ? 1_000_000 : 40_000),
    full,
  };
}

function readSwitch(env: Environment, name: string): boolean {
  const text = env[name] || '0';
  if (text === '0' || text === '1') return text === '1';
  throw new Error(`${name} is "${text}": expected 0 or 1`);
}

function readObjectName(env: Environment, variable: string): ObjectName | undefined {
  const text = env[variable];
  if (!text) return undefined;
  const [namespace, name, ...more] = text.split('/');
  if (namespace && name && more.length === 0) return { namespace, name };
  throw new Error(
    `${variable} is "${text}": expected a namespace and a name, such as gateways/public`,
  );
}

/** An Ingress and the route of a gateway can have host names, but no IP addresses. */
function readAddress(env: Environment, variable: string): string | undefined {
  const text = env[variable];
  if (!text) return undefined;
  const url = URL.parse(text);
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url && isHttp && !net.isIP(url.hostname) && !url.hostname.startsWith('[')) return url.origin;
  throw new Error(
    `${variable} is "${text}": expected an address with a host name, such as http://fw.test:8080`,
  );
}

function readCount(env: Environment, name: string, fallback: number): number {
  const text = env[name] || String(fallback);
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(`${name} is "${text}": expected a positive whole number`);
}
