import LocalStore from '@fastify/rate-limit/store/LocalStore.js';
import { type Algorithm, memoryStore, type Policy } from '@fw/rate-limit';
import { redisStore } from '@fw/rate-limit/redis';
import * as express from 'express-rate-limit';
import * as hono from 'hono-rate-limiter';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import type { createClient } from 'redis';

/** A store with a limit that no key of the benchmark reaches. */
export interface LimiterUnderTest {
  hit(key: string): unknown;
}

/** The Redis client of all stores. */
export type BenchClient = ReturnType<typeof createClient>;

interface Peer<Argument> {
  create(argument: Argument): LimiterUnderTest;
  /** Its package; the report prints the version. */
  readonly package?: string;
}

const MAX = 1_000_000;
const WINDOW_MS = 3_600_000;

function policyOf(algorithm: Algorithm): Policy {
  return { name: 'bench', algorithm, max: MAX, windowMs: WINDOW_MS, burst: MAX };
}

function fwMemory(algorithm: Algorithm): Peer<number> {
  return {
    create(maxKeys) {
      const counter = memoryStore({ maxKeys }).counter(policyOf(algorithm));
      return { hit: (key) => counter.hit(key, 1) };
    },
  };
}

/** The in-memory stores, created for a number of keys. */
export const MEMORY_STORES: Readonly<Record<string, Peer<number>>> = {
  'fw-sliding-window': fwMemory('sliding-window'),
  'fw-fixed-window': fwMemory('fixed-window'),
  'fw-token-bucket': fwMemory('token-bucket'),
  'express-rate-limit': {
    create() {
      const store = new express.MemoryStore();
      store.init({ windowMs: WINDOW_MS } as express.Options); // the only option that it reads
      return { hit: (key) => store.increment(key) };
    },
    package: 'express-rate-limit',
  },
  'rate-limiter-flexible': {
    create() {
      const limiter = new RateLimiterMemory({ points: MAX, duration: WINDOW_MS / 1000 });
      return { hit: (key) => limiter.consume(key) };
    },
    package: 'rate-limiter-flexible',
  },
  'hono-rate-limiter': {
    create() {
      const store = new hono.MemoryStore();
      store.init({ windowMs: WINDOW_MS } as hono.HonoConfigType); // the only option that it reads
      return { hit: (key) => store.increment(key) };
    },
    package: 'hono-rate-limiter',
  },
  'fastify-rate-limit': {
    // Keeps all keys; the default of the peer is 5,000.
    create(maxKeys) {
      const store = new LocalStore(false, false, maxKeys);
      const done = () => {};
      return { hit: (key) => store.incr(key, done, WINDOW_MS, MAX) };
    },
    package: '@fastify/rate-limit',
  },
};

/** The Redis stores. */
export const REDIS_STORES: Readonly<Record<string, Peer<BenchClient>>> = {
  'fw-redis': {
    create(client) {
      const counter = redisStore(client).counter(policyOf('sliding-window'));
      return { hit: (key) => counter.hit(key, 1) };
    },
  },
  'rate-limiter-flexible-redis': {
    create(storeClient) {
      const limiter = new RateLimiterRedis({
        storeClient,
        useRedisPackage: true,
        points: MAX,
        duration: WINDOW_MS / 1000,
      });
      return { hit: (key) => limiter.consume(key) };
    },
    package: 'rate-limiter-flexible',
  },
};
