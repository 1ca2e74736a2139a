/*
 * Measures one in-memory store: `node --expose-gc memory-server.ts <store> <keys>`. It hits every key
 * once; for each message from its parent it sends the time per hit in random order.
 */
import { Bench } from 'tinybench';

import { serveParent } from '../measured.ts';
import { MEMORY_STORES } from './peers.ts';

const HITS_PER_SAMPLE = 1_000;
const ROUND_MS = 500;
const KEY_BYTES = 15;

/** The result of one round. */
export interface MemoryRound {
  /** Median, without the time to create the key. */
  readonly nanosPerHit: number;
  /** The longest single hit, garbage collection included. */
  readonly pauseMs: number;
}

/** The memory of a store after one hit per key. */
export interface MemoryReady {
  readonly bytesPerKey: number;
}

const [name = '', countText = ''] = process.argv.slice(2);
const gc = globalThis.gc;
if (!gc) throw new Error('Usage: node --expose-gc memory-server.ts <store> <keys>');

const count = Number(countText);
const bytes = Buffer.alloc(count * KEY_BYTES);
for (let at = 0; at < count; at++) {
  const id = String(Math.imul(at, 0x9e3779b1) >>> 0).padStart(10, '0');
  bytes.write(`user:${id}`, at * KEY_BYTES, 'latin1');
}
const peer = MEMORY_STORES[name];
if (!peer) throw new Error(`Cannot find the store "${name}"`);
const before = usedBytes();
const store = peer.create(count);
for (let at = 0; at < count; at++) await store.hit(keyAt(at));
const ready: MemoryReady = { bytesPerKey: (usedBytes() - before) / count };

let longestMs = 0;
serveParent(ready, measure);

async function measure(): Promise<MemoryRound> {
  const bench = new Bench({ time: ROUND_MS, warmupTime: ROUND_MS / 5, throws: true });
  bench.add('key', () => randomKeys((key) => key.length));
  bench.add('hit', () => randomKeys((key) => store.hit(key)));
  longestMs = 0;
  bench.add('pause', () => randomKeys(timedHit));
  const [key = 0, hit = 0] = (await bench.run()).map(({ result }) =>
    result.state === 'completed' ? result.latency.p50 : Number.NaN,
  );
  return { nanosPerHit: ((hit - key) * 1e6) / HITS_PER_SAMPLE, pauseMs: longestMs };
}

async function timedHit(key: string): Promise<void> {
  const startedMs = performance.now();
  const hit = store.hit(key);
  if (hit instanceof Promise) await hit;
  longestMs = Math.max(longestMs, performance.now() - startedMs);
}

async function randomKeys(use: (key: string) => unknown): Promise<void> {
  for (let hit = 0; hit < HITS_PER_SAMPLE; hit++) {
    const result = use(keyAt(Math.floor(Math.random() * count)));
    if (result instanceof Promise) await result; // awaiting a synchronous result would cost time
  }
}

/** Returns a new string each time, as an HTTP parser does: its hash is not computed yet. */
function keyAt(index: number): string {
  return bytes.toString('latin1', index * KEY_BYTES, (index + 1) * KEY_BYTES);
}

function usedBytes(): number {
  gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external; // external contains the array buffers
}
