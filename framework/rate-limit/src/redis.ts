import { createHash } from 'node:crypto';

import { aString, aWholeNumber, readOptions } from '@fw/core/options';

import { SCRIPT } from './redis-script.ts';
import type { Counter, Hit, Policy, RateLimitStore } from './store.ts';

/** The members of a client of the package `redis` that the store uses. */
export interface RedisClient {
  readonly isReady: boolean;
  /** Sends one command and resolves with its reply. */
  sendCommand(args: string[]): Promise<unknown>;
  /** Calls `listener` when the connection fails. */
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface RedisStoreOptions {
  /** Prefix of every key. The braces put all keys into one slot of a cluster. Default `{rate-limit}:`. */
  readonly prefix?: string;
  /** Milliseconds that a request waits for the server; longer if this process is busy. Default 100. */
  readonly timeout?: number;
}

/**
 * Options for a client of the package `redis`: no command waits for a connection, and the client
 * reconnects within a second after the server has recovered.
 *
 * ```ts
 * const client = createClient({ url, ...redisClientOptions });
 * ```
 */
export const redisClientOptions = {
  disableOfflineQueue: true,
  socket: {
    connectTimeout: 1_000,
    reconnectStrategy: (retries: number) => Math.min(100 * (retries + 1), 500),
  },
};

/**
 * Counts in a Redis or Valkey server, exactly for any number of processes, with one script and the
 * clock of the server. All hits of one turn of the event loop are one command. A key that is known to
 * be blocked needs no command. While the server is unavailable, every hit fails at once.
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): RateLimitStore {
  const { prefix = '{rate-limit}:', timeout = 100 } = readOptions('redisStore()', options, {
    prefix: aString,
    timeout: aWholeNumber(1, 60_000),
  });
  ignoreErrors(client);
  const script = new Script(client, timeout);
  const blocks = new KnownBlocks();
  return { counter: (policy) => new RedisCounter(script, blocks, policy, prefix) };
}

const ignored = new WeakSet<RedisClient>();

/** Limiters notice a failure by their hits; an error event without a listener would end the process. */
function ignoreErrors(client: RedisClient): void {
  if (ignored.has(client)) return;
  ignored.add(client);
  client.on('error', () => {});
}

const SHA = createHash('sha1').update(SCRIPT).digest('hex');

/**
 * The time-out consists of parts, each of which ends in a turn of the event loop. Time in which this
 * process was busy, or did not get the processor, therefore hardly counts as waiting for the server.
 */
const PARTS = 4;

/** After the last part, responses that have arrived are still read. */
const GRACE_MS = 10;

/** Waits for the reply of a command, up to `timeoutMs`. */
export async function replyInTime<Reply>(reply: Promise<Reply>, timeoutMs: number): Promise<Reply> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = () =>
      reject(new Error(`The Redis server has not responded within ${timeoutMs} ms`));
    const wait = (parts: number) => {
      timer =
        parts > 0 ? setTimeout(wait, timeoutMs / PARTS, parts - 1) : setTimeout(giveUp, GRACE_MS);
    };
    wait(PARTS);
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs the script on the server, with a time-out. */
class Script {
  readonly #client: RedisClient;
  readonly #timeoutMs: number;
  /** Calls that timed out and that the server may still run. */
  #overdue = 0;

  constructor(client: RedisClient, timeoutMs: number) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws {Error} if no response in time can be expected */
  assertReady(): void {
    if (!this.#client.isReady) throw new Error('The Redis client is not connected');
    if (this.#overdue > 0) throw new Error('The Redis server does not respond');
  }

  async run(args: readonly string[]): Promise<readonly number[]> {
    const reply = this.#evaluate(args);
    try {
      return await replyInTime(reply, this.#timeoutMs);
    } catch (error) {
      this.#overdue++; // ends at once if the server has replied
      const end = () => this.#overdue--;
      reply.then(end, end);
      throw error;
    }
  }

  /** Runs the script by its hash; sends the script itself to a server that does not have it. */
  async #evaluate(args: readonly string[]): Promise<readonly number[]> {
    try {
      return readNumbers(await this.#client.sendCommand(['EVALSHA', SHA, ...args]));
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return readNumbers(await this.#client.sendCommand(['EVAL', SCRIPT, ...args]));
    }
  }
}

function readNumbers(reply: unknown): readonly number[] {
  if (Array.isArray(reply) && reply.every((part) => typeof part === 'number')) return reply;
  throw new Error(`Cannot read the script's reply "${String(reply)}": expected numbers`);
}

interface Waiting {
  /** The full key on the server. */
  readonly key: string;
  readonly cost: number;
  resolve(hit: Hit): void;
  reject(error: unknown): void;
}

/** Longer calls would delay the other clients of the server. */
const MAX_HITS_PER_CALL = 500;

class RedisCounter implements Counter {
  readonly #script: Script;
  readonly #blocks: KnownBlocks;
  readonly #prefix: string;
  readonly #policyArgs: readonly string[];
  #waiting: Waiting[] = [];

  constructor(script: Script, blocks: KnownBlocks, policy: Policy, prefix: string) {
    const { name, algorithm, max, windowMs, burst } = policy;
    this.#script = script;
    this.#blocks = blocks;
    this.#prefix = `${prefix}${[name, algorithm, max, windowMs, burst].join(':')}:`;
    this.#policyArgs = [algorithm, max, windowMs * 1000, burst].map(String);
  }

  hit(key: string, cost: number): Hit | Promise<Hit> {
    const fullKey = this.#prefix + key;
    return this.#blocks.find(fullKey, cost) ?? this.#request(fullKey, cost);
  }

  findRefusal(key: string, cost: number): Hit | undefined {
    return this.#blocks.find(this.#prefix + key, cost);
  }

  #request(key: string, cost: number): Promise<Hit> {
    try {
      this.#script.assertReady();
    } catch (error) {
      this.#blocks.clear();
      throw error;
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, cost, resolve, reject });
      // Runs right after all sockets of this turn were read.
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let start = 0; start < waiting.length; start += MAX_HITS_PER_CALL) {
      this.#send(waiting.slice(start, start + MAX_HITS_PER_CALL));
    }
  }

  async #send(hits: readonly Waiting[]): Promise<void> {
    const sentMs = performance.now();
    try {
      const numbers = await this.#script.run(this.#toArgs(hits));
      for (const [at, { key, cost, resolve }] of hits.entries()) {
        const hit = readHit(numbers[at * 2], numbers[at * 2 + 1]);
        if (!hit.allowed) this.#blocks.add(key, { ...hit, cost, untilMs: sentMs + hit.resetMs });
        resolve(hit);
      }
    } catch (error) {
      this.#blocks.clear();
      for (const { reject } of hits) reject(error);
    }
  }

  #toArgs(hits: readonly Waiting[]): string[] {
    const args = [String(hits.length)];
    for (const { key } of hits) args.push(key);
    args.push(...this.#policyArgs);
    if (hits.some(({ cost }) => cost !== 1)) args.push(...hits.map(({ cost }) => String(cost)));
    return args;
  }
}

function readHit(number = 0, micros = 0): Hit {
  const resetMs = micros / 1000;
  return number >= 0
    ? { allowed: true, remaining: number, resetMs }
    : { allowed: false, remaining: -1 - number, resetMs };
}

/** A hit of at least this cost is rejected until `untilMs`. */
interface Block {
  readonly cost: number;
  readonly remaining: number;
  readonly untilMs: number;
}

const MAX_KNOWN_BLOCKS = 10_000;

/**
 * Blocked keys, known without a command. Must be empty while the server is unavailable: a hit that is
 * rejected from here would look as if the server had recovered.
 */
class KnownBlocks {
  readonly #blocks = new Map<string, Block>();

  find(key: string, cost: number): Hit | undefined {
    const block = this.#blocks.get(key);
    if (!block) return undefined;
    const resetMs = block.untilMs - performance.now();
    if (resetMs <= 0) {
      this.#blocks.delete(key);
      return undefined;
    }
    if (cost < block.cost) return undefined;
    return { allowed: false, remaining: block.remaining, resetMs };
  }

  add(key: string, block: Block): void {
    if (this.#blocks.size === MAX_KNOWN_BLOCKS) {
      this.#blocks.delete(this.#blocks.keys().next().value as string);
    }
    this.#blocks.set(key, block);
  }

  clear(): void {
    this.#blocks.clear();
  }
}
