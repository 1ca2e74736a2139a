import { createHash } from 'node:crypto';

import { aString, aWholeNumber, readOptions } from '@fw/core/options';

import { SCRIPT } from './redis-script.ts';
import type { Counter, Hit, Policy, RateLimitStore } from './store.ts';

/** What the store uses of a client of the package `redis`. */
export interface RedisClient {
  readonly isReady: boolean;
  sendCommand(args: string[]): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface RedisStoreOptions {
  /** Stands before every key. The braces put all of them into one slot of a cluster. Default `{rate-limit}:`. */
  readonly prefix?: string;
  /** Milliseconds that a request waits for the server; longer if this process is late itself. Default 100. */
  readonly timeout?: number;
}

/**
 * Options for a client of the package `redis` that suit a limiter: no command waits for a connection,
 * a server that is back is found within a second.
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
 * Counts in a Redis or Valkey server, exactly over any number of processes: by one script and the
 * server's clock. The hits of one turn of the event loop travel together, and a key that is known to
 * be blocked is not asked for. While the server is away, every hit fails at once.
 *
 * @throws {TypeError} if an option is unknown or has a value that it cannot have
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): RateLimitStore {
  const { prefix = '{rate-limit}:', timeout = 100 } = readOptions('redisStore()', options, {
    prefix: aString,
    timeout: aWholeNumber(1, 60_000),
  });
  hearErrors(client);
  const script = new Script(client, timeout);
  const blocks = new KnownBlocks();
  return { counter: (policy) => new RedisCounter(script, blocks, policy, prefix) };
}

const heard = new WeakSet<RedisClient>();

/** Limiters learn of a failure by their hits; an error that nobody listens to ends the process. */
function hearErrors(client: RedisClient): void {
  if (heard.has(client)) return;
  heard.add(client);
  client.on('error', () => {});
}

const SHA = createHash('sha1').update(SCRIPT).digest('hex');

/**
 * The time-out is waited for in parts, each of which ends in a turn of the event loop: a process that
 * was busy itself, or did not get the processor, has not waited for the server meanwhile.
 */
const PARTS = 4;

/** After the last part, what has arrived by then gets to be read. */
const GRACE_MS = 10;

/** Runs the script on the server, in the time that requests have. */
class Script {
  readonly #client: RedisClient;
  readonly #timeoutMs: number;
  /** Calls that the server has not answered in time, and may still carry out. */
  #overdue = 0;

  constructor(client: RedisClient, timeoutMs: number) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws {Error} if there is no hope for an answer in time */
  assertReady(): void {
    if (!this.#client.isReady) throw new Error('The Redis client is not connected');
    if (this.#overdue > 0) throw new Error('The Redis server does not answer');
  }

  run(args: readonly string[]): Promise<readonly number[]> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const giveUp = () => {
        isLate = true;
        this.#overdue++;
        reject(new Error(`The Redis server has not answered within ${this.#timeoutMs} ms`));
      };
      let timer: NodeJS.Timeout;
      const wait = (parts: number) => {
        timer =
          parts > 0
            ? setTimeout(wait, this.#timeoutMs / PARTS, parts - 1)
            : setTimeout(giveUp, GRACE_MS);
      };
      wait(PARTS);
      this.#evaluate(args)
        .then(resolve, reject)
        .finally(() => {
          clearTimeout(timer);
          if (isLate) this.#overdue--;
        });
    });
  }

  /** By its hash; a server that has never seen the script, or has forgotten it, is given it whole. */
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
  /** With all that tells it from other keys on the server. */
  readonly key: string;
  readonly cost: number;
  resolve(hit: Hit): void;
  reject(error: unknown): void;
}

/** Hits of one call: longer ones would keep the server's other clients waiting. */
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
    return this.#blocks.find(fullKey, cost) ?? this.#ask(fullKey, cost);
  }

  findRefusal(key: string, cost: number): Hit | undefined {
    return this.#blocks.find(this.#prefix + key, cost);
  }

  #ask(key: string, cost: number): Promise<Hit> {
    try {
      this.#script.assertReady();
    } catch (error) {
      this.#blocks.clear();
      throw error;
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, cost, resolve, reject });
      // The check phase comes right after the sockets of this turn were read.
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

/** A hit that costs as much as this one did is refused until then. */
interface Block {
  readonly cost: number;
  readonly remaining: number;
  readonly untilMs: number;
}

const MAX_KNOWN_BLOCKS = 10_000;

/**
 * What is known of blocked keys without asking. It must be empty while the server is away: an answer
 * from here would look as if the server were back.
 */
class KnownBlocks {
  readonly #blocks = new Map<string, Block>();

  find(key: string, cost: number): Hit | undefined {
    const block = this.#blocks.get(key);
    if (!block) return undefined;
    const resetMs = block.untilMs - performance.now();
    if (resetMs <= 0) this.#blocks.delete(key);
    if (resetMs <= 0 || cost < block.cost) return undefined;
    return { allowed: false, remaining: block.remaining, resetMs };
  }

  add(key: string, block: Block): void {
    const [oldest] = this.#blocks.size < MAX_KNOWN_BLOCKS ? [] : this.#blocks.keys();
    if (oldest !== undefined) this.#blocks.delete(oldest);
    this.#blocks.set(key, block);
  }

  clear(): void {
    this.#blocks.clear();
  }
}
