import { type Images, readImages } from '../../deploy/local/cluster/images.ts';

/** The variables of `make e2e`, described in README.md. */
export interface Settings extends Images {
  /** The address at which this machine reaches the ports of nodes. Default: that of a node. */
  readonly nodeHost: string | undefined;
  /** Whether a node with other workloads may be cordoned or killed. */
  readonly allowNodes: boolean;
  /** The command that cuts the power of a node; the node's name is appended. */
  readonly killNode: string | undefined;
  /** The command that starts a node; the node's name is appended. */
  readonly startNode: string | undefined;
  /** The minimum duration of a request stream, in seconds. */
  readonly streamSeconds: number;
  /** Requests per second of a stream. */
  readonly streamRate: number;
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
  return {
    ...readImages(env),
    nodeHost: env.NODE_HOST || undefined,
    allowNodes: readSwitch(env, 'E2E_ALLOW_NODES'),
    killNode: env.KILL_NODE || undefined,
    startNode: env.START_NODE || undefined,
    // 300 requests per second reach 40,000 after 134 s.
    streamSeconds: readCount(env, 'STREAM_SECONDS', 140),
    streamRate: readCount(env, 'STREAM_RATE', 300),
  };
}

function readSwitch(env: Environment, name: string): boolean {
  const text = env[name] || '0';
  if (text === '0' || text === '1') return text === '1';
  throw new Error(`${name} is "${text}": expected 0 or 1`);
}

function readCount(env: Environment, name: string, fallback: number): number {
  const text = env[name] || String(fallback);
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(`${name} is "${text}": expected a positive whole number`);
}
