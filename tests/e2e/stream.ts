import assert from 'node:assert/strict';
import path from 'node:path';

import { type LoadResult, runLoad } from '../../deploy/k6/run.ts';
import { folders } from '../../deploy/local/state.ts';
import type { Platform } from './platform.ts';
import type { World } from './scenario.ts';

/** How long a stream goes on at most: changes that take longer are too slow. */
export const LONGEST_SECONDS = 480;

/** Requests that come whatever happens, half of them POST. */
export interface Stream {
  /** Ends it, and gives what it came to, and the lines that tell it. */
  stop(): Promise<{ readonly outcome: LoadResult; readonly lines: string }>;
  /** Ends it. @throws {Error} if a request was lost, or could not be sent in time */
  end(): Promise<LoadResult>;
}

/** Starts to send requests to the platform, `rate` a second: by default as the settings say. */
export function startStream(
  { cluster, settings }: World,
  platform: Platform,
  rate = settings.streamRate,
): Stream {
  let output = '';
  const end = new AbortController();
  const load = runLoad({
    profile: 'rollout',
    base: platform.base,
    env: {
      ...process.env,
      JWT_SECRET: platform.secret,
      RATE: String(rate),
      DURATION: `${LONGEST_SECONDS}s`,
    },
    // Apart from the reports of "make load".
    out: path.join(folders.root, '.local/e2e/load'),
    print: (text) => {
      output += text;
    },
    until: AbortSignal.any([end.signal, cluster.signal]),
  });
  // Whoever stops it is told.
  load.catch(() => {});

  async function stop() {
    end.abort();
    return { outcome: await load, lines: output };
  }
  return {
    stop,
    async end() {
      const { outcome, lines: told } = await stop();
      const { failed, dropped } = outcome;
      assert.ok(failed === 0 && dropped === 0, told);
      return outcome;
    },
  };
}
