import { aString, aWholeNumber, MAX_TIMER_MS, readOptions } from '@fw/core/options';
import { ServiceUnavailableError } from '@fw/errors';
import { type RedisClient, replyInTime } from '@fw/rate-limit/redis';

import type { Attempt, ClaimStore, Saved } from './store.ts';

export interface RedisStoreOptions {
  /** Prefix of every key. Default `idempotency:`. */
  readonly prefix?: string;
  /**
   * How long a key stays claimed after its process has died, in milliseconds. A request that takes
   * longer may be handled twice. Default 60,000.
   */
  readonly leaseMs?: number;
  /** Milliseconds that a request waits for the server. Default 1,000. */
  readonly timeoutMs?: number;
}

/** Replaces the claim ARGV[1], or nothing, by the response ARGV[2]; without a response, removes the claim. */
const SETTLE = `local present = redis.call('GET', KEYS[1])
if present and present ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`;

/**
 * Stores responses in a Redis (from version 7 on) or Valkey server, for any number of processes. While
 * the server is unavailable, requests with a key get 503.
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): ClaimStore {
  const {
    prefix = 'idempotency:',
    leaseMs = 60_000,
    timeoutMs = 1_000,
  } = readOptions('redisStore()', options, {
    prefix: aString,
    leaseMs: aWholeNumber(1, MAX_TIMER_MS),
    timeoutMs: aWholeNumber(1, 60_000),
  });

  client.on('error', () => {}); // requests notice a failure; without a listener it would end the process

  async function send(args: string[]): Promise<unknown> {
    try {
      if (!client.isReady) throw new Error('The Redis client is not connected');
      return await replyInTime(client.sendCommand(args), timeoutMs);
    } catch (cause) {
      const headers = { 'Retry-After': '1' };
      throw new ServiceUnavailableError('The idempotency store is unavailable', { cause, headers });
    }
  }

  async function settle(attempt: Attempt, response?: string): Promise<boolean> {
    const { key, fingerprint, retentionMs } = attempt;
    const done = response === undefined ? '' : JSON.stringify([fingerprint, response]);
    const values = [claimOf(attempt), done, String(Math.ceil(retentionMs))];
    return (await send(['EVAL', SETTLE, '1', prefix + key, ...values])) === 1;
  }

  return {
    async claim(attempt) {
      const { key } = attempt;
      const lease = ['PX', String(leaseMs)];
      const present = await send(['SET', prefix + key, claimOf(attempt), 'NX', 'GET', ...lease]);
      return present === null ? undefined : readSaved(String(present));
    },
    finish: settle,
    release: (attempt) => settle(attempt),
  };
}

/** A response is a list of two texts, and a claim one of three. */
function claimOf({ fingerprint, owner }: Attempt): string {
  return JSON.stringify([fingerprint, null, owner]);
}

function readSaved(text: string): Saved {
  const [fingerprint, response] = JSON.parse(text) as [string, string | null];
  return { fingerprint, response: response ?? undefined };
}
