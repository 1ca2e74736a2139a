import { setImmediate as turnOfEventLoop } from 'node:timers/promises';

import type { AddItems, NumberedItem, ReplaceCatalog } from '../store.ts';
import { type Rejection, readItems } from './read-items.ts';
import type { Source } from './source.ts';

/** The number of rows that were read, or the part of the indexing that is done. */
export interface ImportProgress {
  readonly phase: 'Reading' | 'Indexing';
  readonly rows: number;
  /** The part of the phase that is done, from 0 to 1; `undefined` if unknown. */
  readonly done: number | undefined;
}

export interface ImportOptions {
  /** Opens the file, once the store is ready. The source must end when `signal` aborts. */
  readonly open: () => Source | Promise<Source>;
  readonly replace: ReplaceCatalog;
  /** Rejects the whole file if more than this percentage of its lines is rejected. */
  readonly maxRejectedPercent: number;
  /** Cancels the import. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Receives all rejections, in the order of their lines. */
  readonly onRejections?: (rejections: readonly Rejection[]) => void;
}

export interface ImportOutcome {
  /** The catalog has changed only if it is `imported`. */
  readonly ending: 'imported' | 'interrupted' | 'rejected';
  readonly items: number;
  readonly rejected: number;
}

/** Replaces the catalog by the items of a file, in one transaction. */
export async function importItems(options: ImportOptions): Promise<ImportOutcome> {
  const { open, replace, maxRejectedPercent, signal, onProgress, onRejections } = options;
  let items = 0;
  let rejected = 0;

  async function fill(add: AddItems): Promise<string | undefined> {
    const source = await open();
    items = 0;
    rejected = 0;
    for await (const batch of readItems(source.chunks)) {
      if (batch.items.length + batch.rejections.length === 0) continue;
      const duplicates = await add(batch.items);
      const rejections = [...batch.rejections, ...duplicates.map(toRejection)];
      rejections.sort((a, b) => a.line - b.line);
      items += batch.items.length - duplicates.length;
      rejected += rejections.length;
      onRejections?.(rejections);
      onProgress?.({ phase: 'Reading', rows: items + rejected, done: source.done() });
    }
    const maxRejected = ((items + rejected) * maxRejectedPercent) / 100;
    if (items === 0 || rejected > maxRejected) return undefined;
    return source.digest().slice(0, 16);
  }

  async function onIndexing(done: number): Promise<void> {
    onProgress?.({ phase: 'Indexing', rows: items, done });
    // An SQLite store never waits for the event loop, which delivers signals.
    await turnOfEventLoop();
    signal.throwIfAborted();
  }

  try {
    const isReplaced = await replace({ fill, onIndexing });
    if (isReplaced) onProgress?.({ phase: 'Indexing', rows: items, done: 1 });
    return { ending: isReplaced ? 'imported' : 'rejected', items, rejected };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { ending: 'interrupted', items, rejected };
  }
}

function toRejection({ line }: NumberedItem): Rejection {
  return { line, reason: 'id is already used in this file' };
}
