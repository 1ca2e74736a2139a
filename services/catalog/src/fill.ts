import { setTimeout as sleep } from 'node:timers/promises';

import { type Logger, ServiceUnavailableError } from 'fw';

import { ImportRunningError, type ImportTarget, type Refusal } from './import/target.ts';
import type { CatalogStore } from './store.ts';

export interface FillOptions {
  readonly store: Pick<CatalogStore, 'isEmpty'>;
  readonly openImport: () => Promise<ImportTarget>;
  /** The items that an empty store gets. */
  readonly file: string;
  readonly logger?: Logger | undefined;
  /** Aborts when the store is closed. */
  readonly signal: AbortSignal;
}

/** How often somebody else's import, or a store that is away, is looked at again. */
const LOOK_EVERY_MS = 100;

/** How long a start waits for somebody else's import: what is shipped takes less. */
const PATIENCE_MS = 2_000;

/**
 * Fills a store that never had a catalog. Of several processes that start at once one does it. Resolves
 * when it is done, or has to go on in the background because the store is away or somebody imports into
 * it for longer.
 *
 * @throws {Error} naming the file, if a line of it holds no item
 */
export async function fillIfEmpty(options: FillOptions): Promise<void> {
  const patience = new AbortController();
  const over = sleep(PATIENCE_MS, undefined, { signal: patience.signal }).catch(() => {});
  let isWaiting = true;
  const filling = keepTrying(options, () => patience.abort()).catch((error: unknown) => {
    if (isWaiting) throw error;
    options.logger?.error('Cannot fill the store', error);
  });
  try {
    await Promise.race([filling, over]);
  } finally {
    isWaiting = false;
    patience.abort();
  }
}

async function keepTrying(options: FillOptions, onAway: () => void): Promise<void> {
  while (!options.signal.aborted) {
    try {
      if (!(await options.store.isEmpty())) return;
      return await fill(options, await options.openImport());
    } catch (error) {
      if (options.signal.aborted) return;
      if (!isPassing(error)) throw error;
      if (error instanceof ServiceUnavailableError) onAway();
      await sleep(LOOK_EVERY_MS, undefined, { ref: false });
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof ImportRunningError || error instanceof ServiceUnavailableError;
}

async function fill({ store, file, signal }: FillOptions, target: ImportTarget): Promise<void> {
  try {
    // Whoever held the lock before may have done it.
    if (!(await store.isEmpty())) return;
    // Hardly any start needs it.
    const { importItems } = await import('./import/import.ts');
    const { openSource } = await import('./import/source.ts');
    let first: Refusal | undefined;
    const { ending } = await importItems({
      open: () => openSource(file, signal),
      target,
      isResumable: true,
      isStrict: true,
      signal,
      onRefusals: (refusals) => {
        first ??= refusals[0];
      },
    });
    if (ending !== 'refused') return;
    throw new Error(first ? `line ${first.line}: ${first.reason}` : 'there is no item in it');
  } catch (error) {
    if (isPassing(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot read items from "${file}": ${reason}`, { cause: error });
  } finally {
    await target.close();
  }
}
