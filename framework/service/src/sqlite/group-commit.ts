import type { DatabaseSync } from 'node:sqlite';

import { activeTraces, type RequestTrace, runWithTraces } from '../tracing/tracing.ts';
import { isBusy, toUnavailable } from './errors.ts';

export interface GroupCommitOptions {
  /** How long a write may wait for the writes of other processes, in milliseconds. Default 1,000. */
  readonly timeoutMs?: number;
}

/** Writes to a database in groups. */
export interface GroupCommit {
  /**
   * Runs `work`, which may read and write, and resolves with its result once that is on disk. If `work`
   * throws, it alone is rolled back. Rejects with a `ServiceUnavailableError` if the database is
   * unavailable.
   */
  write<T>(work: () => T): Promise<T>;
}

/** One write. `run` runs its work in the transaction and returns a function to call after the commit. */
interface Job {
  readonly startedMs: number;
  readonly run: () => () => void;
  readonly traces: readonly RequestTrace[];
  readonly reject: (error: unknown) => void;
}

/** How long a statement may block the event loop while it waits for another process. */
const BUSY_TIMEOUT_MS = 5;

/** Maximum number of writes in a group, so that reads run between groups. */
const MAX_GROUP_WRITES = 500;

/**
 * Combines the writes of one turn of the event loop into one durable transaction, because a commit takes
 * as much time as many inserts. Also limits how long any statement of `database` waits for another process
 * to a few milliseconds, because a waiting statement blocks the event loop.
 */
export function createGroupCommit(
  database: DatabaseSync,
  { timeoutMs = 1_000 }: GroupCommitOptions = {},
): GroupCommit {
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const save = database.prepare('SAVEPOINT job');
  const release = database.prepare('RELEASE job');
  const undo = database.prepare('ROLLBACK TO job');
  const waiting: Job[] = [];
  let isScheduled = false;

  function write<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => {
        save.run();
        try {
          const value = work();
          release.run();
          return () => resolve(value);
        } catch (error) {
          // After some failures, such as a full disk, SQLite has rolled back the whole transaction.
          if (!database.isTransaction) throw error;
          undo.run();
          release.run();
          return () => reject(toUnavailable(error));
        }
      };
      waiting.push({ startedMs: performance.now(), run, traces: activeTraces(), reject });
      schedule(() => setImmediate(writeGroup));
    });
  }

  function writeGroup(): void {
    isScheduled = false;
    const group = waiting.splice(0, MAX_GROUP_WRITES);
    try {
      runWithTraces(group, () => begin.run());
    } catch (error) {
      if (isBusy(error)) retry(group, error);
      else {
        reject(group, error);
        writeRest();
      }
      return;
    }
    try {
      const settle = group.map((job) => runWithTraces([job], job.run));
      runWithTraces(group, () => commit.run());
      for (const settleJob of settle) settleJob();
    } catch (error) {
      if (database.isTransaction) runWithTraces(group, () => database.exec('ROLLBACK'));
      reject(group, error);
    }
    writeRest();
  }

  function writeRest(): void {
    if (waiting.length > 0) schedule(() => setImmediate(writeGroup));
  }

  function retry(group: readonly Job[], reason: unknown): void {
    const oldestMs = performance.now() - timeoutMs;
    const isLate = (job: Job) => job.startedMs < oldestMs;
    reject(group.filter(isLate), reason);
    waiting.unshift(...group.filter((job) => !isLate(job)));
    const pauseMs = 1 + Math.random() * BUSY_TIMEOUT_MS;
    if (waiting.length > 0) schedule(() => setTimeout(writeGroup, pauseMs));
  }

  function reject(jobs: readonly Job[], reason: unknown): void {
    for (const job of jobs) job.reject(toUnavailable(reason));
  }

  function schedule(start: () => void): void {
    if (isScheduled) return;
    isScheduled = true;
    start();
  }

  return { write };
}
