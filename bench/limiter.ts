import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { startProgram } from '../deploy/local/testing/program.ts';
import { median, rotate } from '../deploy/local/testing/statistics.ts';
import { ensureTool } from '../tools/programs.ts';
import type { MemoryReady, MemoryRound } from './limiter/memory-server.ts';
import { MEMORY_STORES, REDIS_STORES } from './limiter/peers.ts';
import type { RedisRound } from './limiter/redis-client.ts';
import { readSettings } from './options.ts';
import { LOAD_CORE, pinned, startMeasured } from './process.ts';
import { publish } from './report.ts';

const STORES = { ...MEMORY_STORES, ...REDIS_STORES };

const MEMORY_SERVER = fileURLToPath(new URL('limiter/memory-server.ts', import.meta.url));
const REDIS_CLIENT = fileURLToPath(new URL('limiter/redis-client.ts', import.meta.url));

interface MemoryResult extends MemoryReady {
  readonly store: string;
  readonly rounds: readonly MemoryRound[];
}

interface RedisResult {
  readonly store: string;
  readonly rounds: readonly RedisRound[];
}

/** Measures the stores and prints a report. */
export async function runLimiter(args: readonly string[]): Promise<void> {
  const settings = readSettings(args, {
    summary: 'Compares the stores of rate limiters: hits of random keys.',
    names: { only: { help: 'stores', known: Object.keys(STORES) } },
    counts: {
      keys: { help: 'number of keys in the in-memory stores', default: 1_000_000 },
      rounds: { help: 'measured rounds', default: 5 },
    },
  });
  if (!settings) return;
  const { only: stores } = settings.names;
  const { keys, rounds } = settings.counts;

  const memory = await measureMemory(
    stores.filter((name) => name in MEMORY_STORES),
    keys,
    rounds,
  );
  const redis = await measureRedis(
    stores.filter((name) => name in REDIS_STORES),
    rounds,
  );
  const packages = stores.flatMap((name) => STORES[name]?.package ?? []);
  const lines = [
    ...(memory.length > 0 ? memoryLines(memory, keys, rounds) : []),
    ...(redis.length > 0 ? redisLines(redis, rounds) : []),
  ];
  publish({ name: 'limiter', packages, lines, data: { keys, memory, redis } }, settings);
}

/** Measures one store after the other, each in its own process, so that they do not share CPU caches. */
async function measureMemory(
  stores: readonly string[],
  keys: number,
  rounds: number,
): Promise<readonly MemoryResult[]> {
  const results: MemoryResult[] = [];
  for (const store of stores) {
    report(`${keys} keys: ${store}`);
    const process = await startMeasured<MemoryReady, MemoryRound>(
      '--expose-gc',
      MEMORY_SERVER,
      store,
      String(keys),
    );
    try {
      const measured: MemoryRound[] = [];
      for (let round = 1; round <= rounds; round++) measured.push(await process.request());
      results.push({ store, ...process.ready, rounds: measured });
    } finally {
      await process.stop();
    }
  }
  return results;
}

/** Measures all clients in turn in every round, with one Redis server on the other core. */
async function measureRedis(
  stores: readonly string[],
  rounds: number,
): Promise<readonly RedisResult[]> {
  if (stores.length === 0) return [];
  const directory = mkdtempSync(join(tmpdir(), 'limiter-'));
  const socket = join(directory, 'redis.sock');
  const args = ['--port', '0', '--unixsocket', socket, '--dir', directory, '--save', ''];
  const server = await startProgram(pinned([ensureTool('redis'), ...args], LOAD_CORE), {
    ready: /eady to accept connections/,
  });
  const measured = stores.map((store) => ({ store, rounds: [] as RedisRound[] }));
  try {
    for (let round = 0; round < rounds; round++) {
      report(`Redis, round ${round + 1} of ${rounds}`);
      for (const result of rotate(measured, round)) {
        result.rounds.push(await redisRound(result.store, socket));
      }
    }
  } finally {
    await server.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  }
  return measured;
}

async function redisRound(store: string, socket: string): Promise<RedisRound> {
  const process = await startMeasured<unknown, RedisRound>(REDIS_CLIENT, store, socket);
  try {
    return await process.request();
  } finally {
    await process.stop();
  }
}

function report(progress: string): void {
  process.stderr.write(`limiter, ${progress}\n`);
}

function memoryLines(
  results: readonly MemoryResult[],
  keys: number,
  rounds: number,
): readonly string[] {
  const rows = results.map(({ store, bytesPerKey, rounds: measured }) => [
    store,
    median(measured.map(({ nanosPerHit }) => nanosPerHit)).toFixed(),
    bytesPerKey.toFixed(),
    median(measured.map(({ pauseMs }) => pauseMs)).toFixed(1),
  ]);
  return [
    `In memory, ${keys.toLocaleString('en')} keys, hit at random, each time with a new string: nanoseconds ` +
      `per hit, bytes per key, and the longest single hit, garbage ` +
      `collection included; medians of ${rounds} rounds. Less is better.`,
    markdownTable(['', 'ns per hit', 'bytes per key', 'longest hit, ms'], rows),
  ];
}

function redisLines(results: readonly RedisResult[], rounds: number): readonly string[] {
  const rows = results.map(({ store, rounds: measured }) => [
    store,
    median(measured.map(({ hitsPerSecond }) => hitsPerSecond)).toFixed(),
    median(measured.map(({ microsPerHit }) => microsPerHit)).toFixed(1),
  ]);
  return [
    `In Redis, on the other core, 64 hits at once: hits per second (more is better), and microseconds of ` +
      `the client's CPU time per hit (less is better); medians of ${rounds} rounds.`,
    markdownTable(['', 'hits/s', 'µs per hit'], rows),
  ];
}
