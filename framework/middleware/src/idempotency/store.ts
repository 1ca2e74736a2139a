import { ConflictError } from '@fw/errors';

/** One request with an idempotency key. */
export interface Attempt {
  /** The key, after the scope and a space if there is a scope. */
  readonly key: string;
  /** Equal only for requests that ask for the same. */
  readonly fingerprint: string;
  /** A random name of this attempt, which no other process has. */
  readonly owner: string;
  /** When the request was received, in milliseconds since 1970. */
  readonly nowMs: number;
  /** How long a response is stored. */
  readonly retentionMs: number;
}

/** What is stored under a key. */
export interface Saved {
  readonly fingerprint: string;
  /** The response as text; `undefined` while the first request is in progress. */
  readonly response?: string | undefined;
}

/**
 * Stores responses outside of the handler's transaction: a key is claimed before the request is handled.
 * Methods reject if the store is unavailable.
 */
export interface ClaimStore {
  /** Claims the key, atomically for all processes; resolves with what is stored if it is taken. */
  claim(attempt: Attempt): Promise<Saved | undefined>;
  /** Stores the response; resolves with `false` if another attempt has claimed the key meanwhile. */
  finish(attempt: Attempt, response: string): Promise<boolean>;
  /** Frees the key: the request had no effect. */
  release(attempt: Attempt): Promise<unknown>;
}

/** Stores responses in the transaction of the handler. */
export interface TransactionStore<Transaction> {
  /** Resolves with what an earlier request with the key has committed. */
  find(attempt: Attempt): Promise<Saved | undefined>;
  /**
   * Stores the response in `transaction`.
   *
   * @throws {ConflictError} of `keyInUse()`, if another transaction has committed the key
   */
  save(transaction: Transaction, attempt: Attempt, response: string): void | Promise<void>;
}

/** Stores the responses of requests with an idempotency key. */
export type IdempotencyStore<Transaction = unknown> = ClaimStore | TransactionStore<Transaction>;

/** The 409 for a key whose first request is in progress. */
export function keyInUse(): ConflictError {
  return new ConflictError('The first request with this Idempotency-Key is in progress', {
    code: 'KEY_IN_USE',
    headers: { 'Retry-After': '1' },
  });
}
