import type { DatabaseSync } from 'node:sqlite';

import { isBusy, toUnavailable } from './sqlite-errors.ts';

export interface GroupCommitOptions {
  /** How long a write may wait for other processes to finish theirs. Default 1 s. */
  readonly timeoutMs?: number;
}

/** Writes to a database in groups. */
export interface GroupCommit {
  /**
   * Runs `work`, which may read and write, and resolves with its result once that is on the disk. Work
   * that throws leaves nothing behind, and harms no other. Rejects with a `ServiceUnavailableError` if
   * the database cannot be used right now.
   */
  write<T>(work: () => T): Promise<T>;
}

/** One write: `run` does the work inside the group's transaction, and gives what to do once that is kept. */
interface Job {
  readonly startedMs: number;
  readonly run: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** How long a statement waits for another process while nothing else can run here. */
const BLOCKING_MS = 5;

/** A group is cut here, so that requests that only read need not wait for all of a flood. */
const LARGEST_GROUP = 500;

/**
 * Lets the writes of one turn of the event loop share one durable transaction: bringing a commit to
 * the disk takes the time of many inserts. From here on nobody waits for another process by standing
 * still for more than a few milliseconds.
 */
export function createGroupCommit(
  database: DatabaseSync,
  { timeoutMs = 1_000 }: GroupCommitOptions = {},
): GroupCommit {
  database.exec(`PRAGMA busy_timeout = ${BLOCKING_MS}`);
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
          // After some failures, a full disk among them, SQLite has undone the whole transaction.
          if (!database.isTransaction) throw error;
          undo.run();
          release.run();
          return () => reject(toUnavailable(error));
        }
      };
      waiting.push({ startedMs: performance.now(), run, reject });
      schedule(() => setImmediate(writeGroup));
    });
  }

  function writeGroup(): void {
    isScheduled = false;
    const group = waiting.splice(0, LARGEST_GROUP);
    try {
      begin.run();
    } catch (error) {
      if (isBusy(error)) tryAgain(group, error);
      else refuse(group, error);
      return;
    }
    try {
      const answers = group.map((job) => job.run());
      commit.run();
      for (const answer of answers) answer();
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      refuse(group, error);
    }
    if (waiting.length > 0) schedule(() => setImmediate(writeGroup));
  }

  function tryAgain(group: readonly Job[], reason: unknown): void {
    const oldestMs = performance.now() - timeoutMs;
    const isLate = (job: Job) => job.startedMs < oldestMs;
    refuse(group.filter(isLate), reason);
    waiting.unshift(...group.filter((job) => !isLate(job)));
    const pauseMs = 1 + Math.random() * BLOCKING_MS;
    if (waiting.length > 0) schedule(() => setTimeout(writeGroup, pauseMs));
  }

  function refuse(jobs: readonly Job[], reason: unknown): void {
    for (const job of jobs) job.reject(toUnavailable(reason));
  }

  function schedule(start: () => void): void {
    if (isScheduled) return;
    isScheduled = true;
    start();
  }

  return { write };
}
