/*
 * Measures one client that counts in Redis: `node redis-client.ts <store> <socket>`. For each message
 * from its parent it sends the hits per second and the client's CPU time per hit.
 */
import { createClient } from 'redis';
import { Bench } from 'tinybench';

import { serveParent } from '../measured.ts';
import { type BenchClient, REDIS_STORES } from './peers.ts';

const CONCURRENCY = 64;
const ROUND_MS = 1_000;
const KEYS = 100_000;

/** The result of one round. */
export interface RedisRound {
  readonly hitsPerSecond: number;
  /** CPU time of the client. */
  readonly microsPerHit: number;
}

const [name = '', socket = ''] = process.argv.slice(2);
const client: BenchClient = createClient({ socket: { path: socket, tls: false } });
await client.connect();
await client.sendCommand(['FLUSHALL']);
const peer = REDIS_STORES[name];
if (!peer) throw new Error(`Cannot find the store "${name}"`);
const store = peer.create(client);
await measure(); // warm-up: V8 compiles the code

serveParent('ready', measure);

async function measure(): Promise<RedisRound> {
  const cpu = process.cpuUsage();
  const bench = new Bench({ time: ROUND_MS, warmup: false, throws: true });
  bench.add('hits', () => Promise.all(Array.from({ length: CONCURRENCY }, hitRandomKey)));
  const [task] = await bench.run();
  const { user, system } = process.cpuUsage(cpu);
  if (task?.result.state !== 'completed') throw new Error('The measurement did not complete');
  const hits = task.runs * CONCURRENCY;
  return {
    hitsPerSecond: (hits * 1_000) / task.result.totalTime,
    microsPerHit: (user + system) / hits,
  };
}

function hitRandomKey(): unknown {
  return store.hit(`user:${Math.floor(Math.random() * KEYS)}`);
}
