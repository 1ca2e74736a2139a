import type { Postgres } from '@fw/service/postgres';

import { sql } from './postgres-tables.ts';

/** The right to import, as long as this process and its connection live. */
export interface Lock {
  /** @throws {Error} if the connection that held it is gone */
  expectHeld(): void;
  release(): Promise<void>;
}

const TRY_LOCK = sql("SELECT pg_try_advisory_xact_lock(hashtext('catalog import')) AS is_held");
const STAY = sql('SELECT 1');

/** A connection that is silent for longer inside a transaction is cut. */
const STAY_EVERY_MS = 2_000;

/** Takes the lock, which a transaction of its own holds; resolves with nothing if somebody has it. */
export async function takeLock(postgres: Postgres): Promise<Lock | undefined> {
  const released = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<boolean>();
  let failure: unknown;
  const holding = postgres
    .transaction(
      async (query) => {
        const [row] = await query(TRY_LOCK);
        answered.resolve(row?.is_held === true);
        if (row?.is_held !== true) return;
        let staying: Promise<unknown> = Promise.resolve();
        const timer = setInterval(() => {
          staying = staying.then(() => query(STAY)).catch(released.reject);
        }, STAY_EVERY_MS);
        try {
          await released.promise;
          await staying;
        } finally {
          clearInterval(timer);
        }
      },
      { timeoutMs: Number.POSITIVE_INFINITY },
    )
    .catch((error: unknown) => {
      failure = error;
      answered.reject(error);
    });
  if (!(await answered.promise)) {
    await holding;
    return undefined;
  }
  return {
    expectHeld() {
      if (failure !== undefined) {
        throw new Error('the connection that held the import is gone', { cause: failure });
      }
    },
    async release() {
      released.resolve();
      await holding;
    },
  };
}
