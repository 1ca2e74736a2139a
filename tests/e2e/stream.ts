import assert from 'node:assert/strict';
import path from 'node:path';

import { type LoadResult, runLoad } from '../../deploy/k6/run.ts';
import { folders } from '../../deploy/local/state.ts';
import type { Platform } from './platform.ts';
import type { World } from './scenario.ts';

/** The longest duration of a stream, in seconds. */
export const MAX_STREAM_SECONDS = 480;

/** A stream of requests at a constant rate; half of them are POST. */
export interface Stream {
  /** Stops the stream and returns the statistics and the output of k6. */
  stop(): Promise<{ readonly result: LoadResult; readonly output: string }>;
  /**
   * Stops the stream. A busy machine may send fewer requests: the caller checks their number.
   *
   * @throws {Error} if a request failed
   */
  end(): Promise<LoadResult>;
}

/** Starts a stream of `rate` requests per second. */
export function startStream(
  { cluster, settings }: World,
  { base, secret }: Platform,
  rate = settings.streamRate,
): Stream {
  let output = '';
  const stopped = new AbortController();
  const load = runLoad({
    profile: 'rollout',
    base,
    env: {
      ...process.env,
      JWT_SECRET: secret,
      RATE: String(rate),
      DURATION: `${MAX_STREAM_SECONDS}s`,
    },
    // Not in the folder of "make load".
    out: path.join(folders.root, '.local/e2e/load'),
    print: (text) => {
      output += text;
    },
    until: AbortSignal.any([stopped.signal, cluster.signal]),
  });
  // `stop` reports the error.
  load.catch(() => {});

  const stop = async () => {
    stopped.abort();
    return { result: await load, output };
  };
  return {
    stop,
    async end() {
      const { result, output } = await stop();
      assert.ok(result.failed === 0, output);
      return result;
    },
  };
}
