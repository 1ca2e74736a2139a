import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { type LoadResult, runLoad, type StreamCounts } from '../../deploy/k6/run.ts';
import { folders } from '../../deploy/local/state.ts';
import { readLedger, type User } from './ledger.ts';
import type { Platform } from './platform.ts';
import type { World } from './world.ts';

/** The longest duration of a stream, in seconds. */
export const MAX_STREAM_SECONDS = 900;

/** A stream of requests at a constant rate; half of them are POST. */
export interface Stream {
  /** Stops the stream and returns the statistics of k6. */
  stop(): Promise<LoadResult>;
  /**
   * Stops the stream. A busy machine may send fewer requests: the caller checks their number.
   *
   * @throws {Error} if a request was lost, or the stream ended before the changes
   */
  end(): Promise<StreamResult>;
}

/** The statistics of a stream, and the users that it created. */
export interface StreamResult extends StreamCounts {
  readonly requests: number;
  /** Requests without an expected response; with `retrySeconds`, these were repeated. */
  readonly failed: number;
  /** Requests that k6 could not start in time. */
  readonly dropped: number;
  readonly ledger: readonly User[];
}

export interface StreamOptions {
  /** Requests per second. Default: that of the settings. */
  readonly rate?: number;
  /** How long a client repeats a request that failed. Default: it repeats none. */
  readonly retrySeconds?: number;
  /** A header, such as `X-Served-By`: the responses with it are counted. */
  readonly countHeader?: string;
  /** The minimum duration around the changes. Default 30. */
  readonly seconds?: number;
}

/** Requests were lost, and k6 could not start others in time: the machine stood still for seconds. */
class StandstillError extends Error {
  readonly ledger: readonly User[];

  constructor(message: string, ledger: readonly User[]) {
    super(message);
    this.ledger = ledger;
  }
}

/** Starts a stream of requests. */
export function startStream(
  { cluster, settings }: World,
  { base, secret }: Pick<Platform, 'base' | 'secret'>,
  { rate = settings.streamRate, retrySeconds, countHeader = '' }: StreamOptions = {},
): Stream {
  let output = '';
  let isOver = false;
  const stopped = new AbortController();
  const load = runLoad({
    profile: 'rollout',
    base,
    env: {
      ...process.env,
      JWT_SECRET: secret,
      RATE: String(rate),
      DURATION: `${MAX_STREAM_SECONDS}s`,
      RETRY_SECONDS: retrySeconds ? String(retrySeconds) : '',
      LEDGER: '1',
      COUNT_HEADER: countHeader,
    },
    // Not in the folder of "make load".
    out: path.join(folders.root, '.local/e2e/load'),
    print: (text) => {
      output += text;
    },
    until: AbortSignal.any([stopped.signal, cluster.signal]),
  });
  // `stop` reports the error.
  load
    .catch(() => {})
    .finally(() => {
      isOver = true;
    });

  const stop = async () => {
    stopped.abort();
    return await load;
  };
  return {
    stop,
    async end() {
      assert.ok(!isOver, `the changes took longer than ${MAX_STREAM_SECONDS} s\n${output}`);
      const { requests, failed, dropped, stream, log } = await stop();
      assert.ok(stream);
      const ledger = readLedger(fs.readFileSync(log, 'utf8'));
      const loss = `${stream.lost} of ${requests} requests were lost\n${output}`;
      if (stream.lost > 0 && dropped > 0) throw new StandstillError(loss, ledger);
      assert.equal(stream.lost, 0, loss);
      // The log may contain a few more: those that k6 logged and did not count when it stopped.
      assert.ok(
        ledger.length >= stream.created,
        `the log of k6 contains ${ledger.length} of ${stream.created} created users`,
      );
      return { requests, failed, dropped, ...stream, ledger };
    },
  };
}

/**
 * Sends requests from before the changes until after them. If requests are lost while the machine stands
 * still, the changes are repeated once.
 *
 * @throws {Error} if a request was lost, or the machine was so busy that fewer than half of them were sent
 */
export async function streamDuring(
  world: World,
  platform: Platform,
  changes: () => Promise<void>,
  options: StreamOptions & { readonly isRepetition?: boolean } = {},
): Promise<StreamResult> {
  const { cluster, settings, log } = world;
  const { rate = settings.streamRate, seconds = 30, isRepetition = false } = options;
  log(`sending ${rate} requests per second`);
  const stream = startStream(world, platform, options);
  try {
    const startMs = Date.now();
    await sleep(3_000, undefined, { signal: cluster.signal });
    await changes();
    const restMs = startMs + seconds * 1_000 - Date.now();
    await sleep(Math.max(0, restMs), undefined, { signal: cluster.signal });
  } catch (error) {
    await stream.stop().catch(() => {});
    throw error;
  }
  const result = await stream.end().catch(async (error) => {
    if (!(error instanceof StandstillError) || isRepetition) throw error;
    log(`${error.message}\nk6 could not start requests in time: repeating the changes`);
    const again = await streamDuring(world, platform, changes, { ...options, isRepetition: true });
    return { ...again, ledger: [...error.ledger, ...again.ledger] };
  });
  const least = Math.floor(0.5 * rate * seconds);
  assert.ok(
    result.requests >= least,
    `only ${result.requests} requests were sent, expected ${least}`,
  );
  log(`none of ${result.requests} requests was lost`);
  return result;
}
