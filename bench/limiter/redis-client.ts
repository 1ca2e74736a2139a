/*
 * The process of one client that counts in Redis: `node redis-client.ts <store> <socket>`. It answers
 * each message with how many hits it got through, and what they cost it.
 */
import { createClient } from 'redis';

import type { LimiterUnderTest } from './contestant.ts';

const CONCURRENCY = 64;
const ROUND_MS = 1_000;
const KEYS = 100_000;

/** What one round found out. */
export interface RedisRound {
  readonly hitsPerSecond: number;
  /** Of the client's processor time. */
  readonly microsPerHit: number;
}

/** The client that all stores use. */
export type BenchClient = ReturnType<typeof createBenchClient>;

interface RedisContestant {
  create(client: BenchClient): LimiterUnderTest;
}

function createBenchClient(path: string) {
  return createClient({ socket: { path, tls: false } });
}

const [name = '', socket = ''] = process.argv.slice(2);
const send = process.send?.bind(process);
if (!send) throw new Error('Usage: redis-client.ts <store> <socket>, forked with a channel');

const client = createBenchClient(socket);
await client.connect();
await client.sendCommand(['FLUSHALL']);
const contestant: RedisContestant = await import(`./contestants/${name}.ts`);
const store = contestant.create(client);
await measure(); // so that the code is compiled

process.on('disconnect', () => process.exit());
process.on('message', async () => send(await measure()));
send('ready');

async function measure(): Promise<RedisRound> {
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  const endMs = startedMs + ROUND_MS;
  const counts = await Promise.all(Array.from({ length: CONCURRENCY }, () => hitUntil(endMs)));
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const hits = counts.reduce((sum, count) => sum + count);
  return { hitsPerSecond: hits / seconds, microsPerHit: (user + system) / hits };
}

async function hitUntil(endMs: number): Promise<number> {
  let hits = 0;
  while (performance.now() < endMs) {
    await store.hit(`user:${Math.floor(Math.random() * KEYS)}`);
    hits++;
  }
  return hits;
}
