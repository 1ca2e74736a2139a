/*
 * The process of one store in memory: `node --expose-gc memory-server.ts <store> <keys>`. It counts
 * every key once, and then answers each message with what hits in random order took.
 */
import type { LimiterContestant } from './contestant.ts';

const BATCH_HITS = 20_000;
const BATCHES = 20;
const PAUSE_HITS = 500_000;

/** What one round found out. */
export interface MemoryRound {
  /** Of the fastest batch, because what else runs only ever adds, and without the making of the key. */
  readonly nanosPerHit: number;
  /** The longest that one hit took, garbage collection included. */
  readonly pauseMs: number;
}

/** What a store holds. */
export interface MemoryReady {
  readonly bytesPerKey: number;
}

const [name = '', countText = ''] = process.argv.slice(2);
const send = process.send?.bind(process);
const gc = globalThis.gc;
if (!send || !gc)
  throw new Error('Usage: node --expose-gc memory-server.ts, forked with a channel');

const count = Number(countText);
const KEY_BYTES = 15;
const bytes = Buffer.alloc(count * KEY_BYTES);
for (let at = 0; at < count; at++) {
  const id = String(Math.imul(at, 0x9e3779b1) >>> 0).padStart(10, '0');
  bytes.write(`user:${id}`, at * KEY_BYTES, 'latin1');
}
const contestant: LimiterContestant = await import(`./contestants/${name}.ts`);

const before = usedBytes();
const store = contestant.create(count);
for (let at = 0; at < count; at++) await store.hit(newKey(at));
const ready: MemoryReady = { bytesPerKey: (usedBytes() - before) / count };

process.on('disconnect', () => process.exit());
process.on('message', async () => send(await measure()));
send(ready);

async function measure(): Promise<MemoryRound> {
  const making = [];
  const hitting = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    making.push(await nanosOf(() => undefined));
    hitting.push(await nanosOf((key) => store.hit(key)));
  }
  const nanosPerHit = Math.min(...hitting) - Math.min(...making);
  return { nanosPerHit, pauseMs: await longestPauseMs() };
}

/** Nanoseconds of making a key and of what `use` does with it. */
async function nanosOf(use: (key: string) => unknown): Promise<number> {
  const order = randomOrder(BATCH_HITS);
  const startedMs = performance.now();
  for (const at of order) {
    const hit = use(newKey(at));
    if (hit instanceof Promise) await hit; // a store that does not wait need not be waited for
  }
  return ((performance.now() - startedMs) * 1e6) / BATCH_HITS;
}

async function longestPauseMs(): Promise<number> {
  let longestMs = 0;
  for (const at of randomOrder(PAUSE_HITS)) {
    const key = newKey(at);
    const startedMs = performance.now();
    const hit = store.hit(key);
    if (hit instanceof Promise) await hit;
    longestMs = Math.max(longestMs, performance.now() - startedMs);
  }
  return longestMs;
}

/** A new text each time, as off a socket: its hash is not known yet. */
function newKey(at: number): string {
  return bytes.latin1Slice(at * KEY_BYTES, (at + 1) * KEY_BYTES);
}

function randomOrder(length: number): Uint32Array {
  return Uint32Array.from({ length }, () => Math.floor(Math.random() * count));
}

function usedBytes(): number {
  gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external; // external holds the array buffers
}
