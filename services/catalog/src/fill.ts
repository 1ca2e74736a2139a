import { setTimeout as sleep } from 'node:timers/promises';

import { type Logger, ServiceUnavailableError } from 'fw';

import { importItems } from './import/import.ts';
import type { Rejection } from './import/read-items.ts';
import { openSource } from './import/source.ts';
import { type CatalogStore, ImportRunningError, type ReplaceCatalog } from './store.ts';

export interface FillOptions {
  readonly store: Pick<CatalogStore, 'version'>;
  readonly openImport: () => Promise<ReplaceCatalog>;
  /** The file with the items. */
  readonly file: string;
  readonly logger?: Logger | undefined;
  /** Aborts when the store is closed. */
  readonly signal: AbortSignal;
}

/** The pause between two attempts while the store is unavailable or another import is running. */
const RETRY_MS = 100;

/** Time limit for the start of a service to wait for an import; importing the items of `data` is faster. */
const MAX_WAIT_MS = 2_000;

/**
 * Imports a file into a store that never contained a catalog. If several processes start concurrently, one
 * of them imports. Resolves when the import has ended, or after 2 s, or if the store is unavailable: it then
 * continues in the background.
 *
 * @throws {Error} naming the file, if a line of it is rejected
 */
export async function fillIfEmpty(options: FillOptions): Promise<void> {
  let isWaiting = true;
  const unavailable = Promise.withResolvers<void>();
  const filling = retry(options, unavailable.resolve).catch((error: unknown) => {
    if (isWaiting) throw error;
    options.logger?.error('Cannot fill the store', error);
  });
  const timeout = sleep(MAX_WAIT_MS, undefined, { ref: false });
  await Promise.race([filling, unavailable.promise, timeout]);
  isWaiting = false;
}

async function retry(options: FillOptions, onUnavailable: () => void): Promise<void> {
  const { store, signal } = options;
  while (!signal.aborted) {
    try {
      if ((await store.version()) === undefined) await fill(options);
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (!isTemporary(error)) throw error;
      if (error instanceof ServiceUnavailableError) onUnavailable();
      await sleep(RETRY_MS, undefined, { ref: false });
    }
  }
}

function isTemporary(error: unknown): boolean {
  return error instanceof ImportRunningError || error instanceof ServiceUnavailableError;
}

async function fill({ store, openImport, file, signal }: FillOptions): Promise<void> {
  const replace = await openImport();
  let first: Rejection | undefined;
  try {
    const { ending } = await importItems({
      async open() {
        // Another process may have filled the store just before this one locked it.
        if ((await store.version()) !== undefined) throw new ImportRunningError();
        return openSource(file, signal);
      },
      replace,
      maxRejectedPercent: 0,
      signal,
      onRejections: (rejections) => {
        first ??= rejections[0];
      },
    });
    if (ending !== 'rejected') return;
    throw new Error(first ? `line ${first.line}: ${first.reason}` : 'it contains no item');
  } catch (error) {
    if (isTemporary(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot read items from "${file}": ${reason}`, { cause: error });
  }
}
