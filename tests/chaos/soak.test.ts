import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { markdownTable } from '../../deploy/local/testing/markdown.ts';
import { startTrialStores } from '../../deploy/local/testing/trial-stores.ts';
import { startTrialSystem } from '../../deploy/local/testing/trial-system.ts';
import type { RedisServer } from '../../framework/rate-limit/src/testing/redis-server.ts';
import { NODE_OPTIONS } from './metrics.ts';
import { FULL, writeResults } from './results.ts';
import type { Slope } from './soak/slope.ts';
import { findGrowing, type SoakResult, soak } from './soak/soak.ts';

/** `limit`: the steepest accepted slope of the memory in use, in MB per hour. */
const LONG = { rate: 20, seconds: 1_200, warmUpSeconds: 300, periodMs: 5_000, limit: 1 };
/** Caches still fill: only a leak of tens of kilobytes per second is found. */
const SHORT = { rate: 20, seconds: 45, warmUpSeconds: 20, periodMs: 1_000, limit: 20 };

const { limit, ...options } = FULL ? LONG : SHORT;

/**
 * Pauses Redis for the first half of the warm-up: reports then counts in its own memory, for which it allocates
 * 18 MB once. A late response of Redis could otherwise cause it in the middle of the measurement.
 */
async function pause(redis: RedisServer): Promise<void> {
  await redis.signal('SIGSTOP');
  await sleep(options.warmUpSeconds * 500);
  await redis.signal('SIGCONT');
}

test('the memory in use of no process grows under load', async () => {
  // As in production: connection pools and clients of both servers are part of the memory.
  const { variables, redis, stop } = await startTrialStores();
  onTestFinished(stop);
  const system = await startTrialSystem({ ...variables, NODE_OPTIONS });
  onTestFinished(system.stop);

  const [result] = await Promise.all([soak(system, options), pause(redis)]);

  console.log(tableOf(result));
  // A busy machine rejects a part of the load with 503. The report contains the number of failed requests.
  expect(result.load.failed).toBeLessThan(0.5 * result.load.requests);
  expect(findGrowing(result, limit)).toEqual([]);
  writeResults('soak', reportOf(result));
});

/** The memory of each process as a table. */
function tableOf({ processes }: SoakResult): string {
  return markdownTable(
    ['process', 'in use', 'slope per hour', 'resident', 'slope per hour', 'processor'],
    processes.map(({ name, inUseMb, inUse, residentMb, resident, processorShare }) => [
      name,
      `${inUseMb.toFixed(1)} MB`,
      describeSlope(inUse),
      `${residentMb.toFixed(0)} MB`,
      describeSlope(resident),
      `${(100 * processorShare).toFixed(1)} %`,
    ]),
  );
}

function describeSlope({ perHour, error }: Slope): string {
  return `${perHour.toFixed(2)} ± ${error.toFixed(2)} MB`;
}

/** The section of docs/operations/failures.md. */
function reportOf(result: SoakResult): string {
  const { rate, seconds, warmUpSeconds, periodMs } = options;
  const { requests, failed, dropped } = result.load;
  return `${seconds / 60} minutes of the profile \`soak\` on PostgreSQL and Redis, with ${rate} journeys per second, which are ${Math.round(requests / seconds)} requests
per second: ${requests} requests, of which ${failed} failed; ${dropped} journeys could not start in time. A sample every
${periodMs / 1_000} s; the first ${warmUpSeconds / 60} minutes do not count.

${tableOf(result)}`;
}
