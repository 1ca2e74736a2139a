import type { Environment } from '../k6/lib/profiles.ts';

/** What is to be tried out, and on what: the variables of README.md. */
export interface Settings {
  /** Put before the names of the services' images, such as `registry.example.org/`. */
  readonly imagePrefix: string;
  /** Default: the version of the charts. */
  readonly tag: string;
  /** Images to use in place of those that the platform names, such as `local/postgres:17`. */
  readonly images: Readonly<Record<'postgres' | 'valkey' | 'edge', string | undefined>>;
  /** The address at which this machine reaches the ports of nodes. Default: that of a node. */
  readonly nodeHost: string | undefined;
  /** Whether a node on which others have workloads may be cordoned or killed. */
  readonly allowNodes: boolean;
  /** The command that a node's name is given to, to pull its plug. */
  readonly killNode: string | undefined;
  /** The command that a node's name is given to, to put it back. */
  readonly startNode: string | undefined;
  /** How long each stream of requests takes at least, in seconds. */
  readonly streamSeconds: number;
  /** How many requests a second each stream has. */
  readonly streamRate: number;
}

/** Reads the settings from the environment. */
export function readSettings(env: Environment): Settings {
  const { IMAGE_PREFIX: imagePrefix = '', TAG: tag = '' } = env;
  const text = (name: string) => env[name] || undefined;
  if (Boolean(env.KILL_NODE) !== Boolean(env.START_NODE)) {
    throw new Error('KILL_NODE and START_NODE belong together: expected both or none of them');
  }
  const image = (name: string) => {
    const value = text(name);
    if (value === undefined || /^[^:@\s]+(:\d+\/[^:@\s]+)?:[\w.-]+$/.test(value)) return value;
    throw new Error(`${name} is "${value}": expected an image and its tag, such as nginx:1.30`);
  };
  return {
    imagePrefix,
    tag,
    images: {
      postgres: image('POSTGRES_IMAGE'),
      valkey: image('VALKEY_IMAGE'),
      edge: image('NGINX_IMAGE'),
    },
    nodeHost: text('NODE_HOST'),
    allowNodes: readSwitch(env, 'E2E_ALLOW_NODES'),
    killNode: text('KILL_NODE'),
    startNode: text('START_NODE'),
    // Forty thousand requests at 300 a second need 134 s.
    streamSeconds: readCount(env, 'STREAM_SECONDS', 140),
    streamRate: readCount(env, 'STREAM_RATE', 300),
  };
}

function readSwitch(env: Environment, name: string): boolean {
  const text = env[name] || '0';
  if (text === '0' || text === '1') return text === '1';
  throw new Error(`${name} is "${text}": expected 1, or 0 as by default`);
}

function readCount(env: Environment, name: string, fallback: number): number {
  const text = env[name] || String(fallback);
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(`${name} is "${text}": expected a whole number above 0`);
}

/** An image and its tag as values of a chart; nothing where the chart's own are meant. */
export function imageValues(image: string | undefined): { image?: object } {
  if (image === undefined) return {};
  const at = image.lastIndexOf(':');
  return { image: { registry: '', repository: image.slice(0, at), tag: image.slice(at + 1) } };
}

/** The values of a service's image: `local/` and `dev` make it `local/fw-users:dev`. */
export function serviceImage({ imagePrefix, tag }: Settings): object {
  return { registry: imagePrefix.replace(/\/$/, ''), tag };
}
