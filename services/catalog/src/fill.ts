import { setTimeout as sleep } from 'node:timers/promises';

import { importItems } from './import/import.ts';
import { openSource } from './import/source.ts';
import { ImportRunningError, type ImportTarget, type Refusal } from './import/target.ts';
import type { CatalogStore } from './store.ts';

export interface FillOptions {
  readonly store: Pick<CatalogStore, 'isEmpty'>;
  readonly openImport: () => Promise<ImportTarget>;
  /** The items that an empty store gets. */
  readonly file: string;
  readonly signal?: AbortSignal;
}

const LOOK_EVERY_MS = 50;

/**
 * Fills a store that never had a catalog. Of several processes that start at once one does it; the
 * others wait until it has.
 *
 * @throws {Error} naming the file, if a line of it holds no item
 */
export async function fillIfEmpty(options: FillOptions): Promise<void> {
  const { store, openImport, signal } = options;
  while (await store.isEmpty()) {
    signal?.throwIfAborted();
    try {
      return await fill(options, await openImport());
    } catch (error) {
      if (!(error instanceof ImportRunningError)) throw error;
      await sleep(LOOK_EVERY_MS);
    }
  }
}

async function fill({ store, file }: FillOptions, target: ImportTarget): Promise<void> {
  try {
    // Whoever held the lock before may have done it.
    if (!(await store.isEmpty())) return;
    let first: Refusal | undefined;
    const { ending } = await importItems({
      open: () => openSource(file),
      target,
      isResumable: true,
      isStrict: true,
      signal: new AbortController().signal,
      onRefusals: (refusals) => {
        first ??= refusals[0];
      },
    });
    if (ending === 'imported') return;
    throw new Error(first ? `line ${first.line}: ${first.reason}` : 'there is no item in it');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot read items from "${file}": ${reason}`, { cause: error });
  } finally {
    await target.close();
  }
}
