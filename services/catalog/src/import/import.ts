import { setImmediate } from 'node:timers/promises';

import * as z from 'zod';

import { OtherContentError } from './lines.ts';
import { type ReadState, readBatches } from './read-batches.ts';
import type { Source } from './source.ts';
import type { ImportState, ImportTarget, Refusal, Step } from './target.ts';

/** What an import is doing. */
export type ImportEvent =
  /** Goes on after the lines that were kept when an earlier import of this file was interrupted. */
  | { readonly kind: 'resumed'; readonly state: ImportState; readonly line: number }
  | { readonly kind: 'read'; readonly state: ImportState; readonly source: Source }
  | { readonly kind: 'build'; readonly step: Step };

export interface ImportOptions {
  /** Opens the file; called again if it has to be read from its beginning. */
  readonly open: () => Source;
  readonly target: ImportTarget;
  /** Whether the same content comes again when the file is opened again; not so of a pipe. */
  readonly isResumable: boolean;
  /** Refuses the whole file if one line is refused. */
  readonly isStrict: boolean;
  /** Ends the import at the next moment from which it can go on. The source must heed it too. */
  readonly signal: AbortSignal;
  readonly onEvent?: (event: ImportEvent) => void;
  /** Is given all refusals, in the order of their lines, a list at a time. */
  readonly onRefusals?: (refusals: readonly Refusal[]) => void | Promise<void>;
}

/** How an import ended. Unless it was interrupted, nothing of it is left to go on with. */
export interface ImportOutcome extends ImportState {
  readonly ending: 'imported' | 'interrupted' | 'refused';
}

const Checkpoint: z.ZodType<ReadState> = z.object({
  offset: z.int(),
  line: z.int(),
  digest: z.string(),
  columns: z.array(z.string()).optional(),
});

const REFUSALS_AT_A_TIME = 1_000;

/**
 * Imports the items of a file in place of the catalog that is there. Nobody sees any of it before all
 * of it is there; what was interrupted at any moment goes on there if the file is the same.
 */
export async function importItems(options: ImportOptions): Promise<ImportOutcome> {
  const { target, isStrict, isResumable, signal, onEvent = () => {} } = options;
  if (!isResumable) await target.startOver();
  const digest = await readAll(options);
  const state = await target.readState();
  if (signal.aborted) return { ...state, ending: 'interrupted' };

  await reportRefusals(options);
  if (signal.aborted) return { ...state, ending: 'interrupted' };
  if (digest === undefined || state.items === 0 || (isStrict && state.refused > 0)) {
    await target.startOver();
    return { ...state, ending: 'refused' };
  }
  for await (const step of target.finish(digest.slice(0, 16))) {
    onEvent({ kind: 'build', step });
    await turnOfEventLoop();
    // The last step cannot be taken back.
    if (signal.aborted && step.done < 1) return { ...state, ending: 'interrupted' };
  }
  return { ...state, ending: 'imported' };
}

/** Resolves with the digest of the whole content, or with nothing if there is none. */
async function readAll(options: ImportOptions): Promise<string | undefined> {
  const { open, target, onEvent = () => {} } = options;
  const state = await target.readState();
  const from = state.checkpoint === undefined ? undefined : readCheckpoint(state.checkpoint);
  if (!from) return read(options, open());
  const source = open();
  try {
    onEvent({ kind: 'resumed', state, line: from.line });
    return (await read(options, source, from)) ?? from.digest;
  } catch (error) {
    if (!(error instanceof OtherContentError)) throw error;
    await target.startOver();
    return read(options, open());
  }
}

async function read(
  { target, signal, onEvent = () => {} }: ImportOptions,
  source: Source,
  from?: ReadState,
): Promise<string | undefined> {
  let digest: string | undefined;
  try {
    for await (const { items, refusals, end } of readBatches(source.chunks, from)) {
      const state = await target.append({ items, refusals, checkpoint: JSON.stringify(end) });
      onEvent({ kind: 'read', state, source });
      digest = end.digest;
      if (signal.aborted) break;
    }
  } catch (error) {
    const isInterrupted = signal.aborted && error instanceof Error && error.name === 'AbortError';
    if (!isInterrupted) throw error;
  }
  return digest;
}

/** Lets signals of the process arrive: the calls of an SQLite target never wait for the event loop. */
const turnOfEventLoop = setImmediate;

function readCheckpoint(text: string): ReadState | undefined {
  return Checkpoint.safeParse(JSON.parse(text)).data;
}

async function reportRefusals({ target, onRefusals, signal }: ImportOptions): Promise<void> {
  if (!onRefusals) return;
  let after = 0;
  while (!signal.aborted) {
    const refusals = await target.refusals({ after, limit: REFUSALS_AT_A_TIME });
    if (refusals.length === 0) return;
    await onRefusals(refusals);
    after = refusals.at(-1)?.line ?? after;
    await turnOfEventLoop();
  }
}
