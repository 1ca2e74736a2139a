import type { Task } from './task.ts';

/** A page of the list, and where the next page begins. */
export interface TaskList {
  readonly tasks: readonly Task[];
  /** Undefined on the last page. */
  readonly next?: number | undefined;
}

/** Keeps tasks. Every method rejects with a `ServiceUnavailableError` while the store is unavailable. */
export interface TaskStore {
  /** Resolves with at most `limit` tasks, oldest first, from the position after `after`. */
  list(page: { readonly after: number; readonly limit: number }): Promise<TaskList>;
  find(id: string): Promise<Task | undefined>;
  insert(task: Task): Promise<void>;
  /** Resolves with the changed task; `undefined` if it does not exist. */
  update(id: string, changes: Partial<Pick<Task, 'title' | 'done'>>): Promise<Task | undefined>;
  /** Resolves with whether the task existed. */
  delete(id: string): Promise<boolean>;
  /** Creates or changes the tables, before the first request; resolves with the applied versions. */
  migrate(): Promise<readonly number[]>;
  /** Rejects if the store cannot be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}
