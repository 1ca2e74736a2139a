import type { Item } from '../item.ts';

/** An item, and the line of the file that it begins in. */
export interface NumberedItem {
  readonly line: number;
  readonly item: Item;
}

/** A line that holds no item, and why. */
export interface Refusal {
  readonly line: number;
  readonly reason: string;
}

/** Consecutive lines of a file. */
export interface Batch {
  readonly items: readonly NumberedItem[];
  readonly refusals: readonly Refusal[];
  /** Says, to whoever wrote it, where in the file this batch ends. */
  readonly checkpoint: string;
}

/** How far an import has come. */
export interface ImportState {
  /** Of the last batch that was kept; not set before the first. */
  readonly checkpoint?: string;
  readonly items: number;
  readonly refused: number;
}

/** One piece of the work after the last batch. */
export interface Step {
  readonly name: string;
  /** What part of all steps is done, from 0 to 1. */
  readonly done: number;
}

/**
 * Where a catalog is built, out of sight of those who read the present one. Whatever was kept is still
 * there when the process ends at any moment.
 */
export interface ImportTarget {
  /** The import that was begun and not finished; a new one if there is none. */
  readState(): Promise<ImportState>;
  /** Throws away what was begun. */
  startOver(): Promise<void>;
  /** Keeps a batch, all of it or nothing. An id that stands in the catalog already is refused. */
  append(batch: Batch): Promise<ImportState>;
  /** The first `limit` refusals after `line`, in the order of their lines. */
  refusals(page: { readonly after: number; readonly limit: number }): Promise<readonly Refusal[]>;
  /**
   * Makes what was appended the present catalog, known as `version`. The work before the very last
   * moment is done step by step; whoever stops taking them may go on later.
   */
  finish(version: string): AsyncIterable<Step>;
  /** Lets the next import begin. */
  close(): Promise<void>;
}

/** Somebody else is importing at the moment. */
export class ImportRunningError extends Error {
  constructor(options?: ErrorOptions) {
    super('another import into this store is running', options);
  }
}
