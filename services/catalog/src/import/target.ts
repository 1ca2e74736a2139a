import type { Item } from '../item.ts';

/** An item, and the line of the file where it starts. */
export interface NumberedItem {
  readonly line: number;
  readonly item: Item;
}

/** A line of the file that contains no valid item, and the reason. */
export interface Rejection {
  readonly line: number;
  readonly reason: string;
}

/** Adds items to the new catalog; resolves with those whose id it already contains. */
export type AddItems = (items: readonly NumberedItem[]) => Promise<readonly Rejection[]>;

export interface ReplaceOptions {
  /** Adds all items. Resolves with the version of the new catalog, or `undefined` to cancel. */
  readonly fill: (add: AddItems) => Promise<string | undefined>;
  /** Called before every step of the indexing with the part that is done, from 0 to 1. */
  readonly onIndexing?: (done: number) => Promise<void>;
}

/**
 * Replaces the catalog in one transaction. Readers see the old catalog until the transaction ends; an
 * import that ends early for any reason changes nothing. Resolves with `false` if `fill` cancelled.
 *
 * @throws {ImportRunningError} if another import into the same store is running
 */
export type ReplaceCatalog = (options: ReplaceOptions) => Promise<boolean>;

/** Another import into the same store is running. */
export class ImportRunningError extends Error {
  constructor(options?: ErrorOptions) {
    super('another import into this store is running', options);
  }
}

/** The rejection of an item whose id was already used. */
export function duplicateId(line: number): Rejection {
  return { line, reason: 'id is already used in this file' };
}

/** Runs the steps of the indexing in order. */
export async function runSteps(
  steps: readonly (() => unknown)[],
  onIndexing: ReplaceOptions['onIndexing'],
): Promise<void> {
  for (const [at, step] of steps.entries()) {
    await onIndexing?.(at / steps.length);
    await step();
  }
}
