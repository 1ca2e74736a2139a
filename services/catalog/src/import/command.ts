import { appendFileSync, closeSync, openSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Rejection, ReplaceCatalog } from '../store.ts';
import { type ImportOutcome, importItems } from './import.ts';
import { count, createProgress, duration } from './progress.ts';
import { openSource } from './source.ts';

/** A stream of the process. */
export interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface ImportCommandOptions {
  /** The arguments of the command. */
  readonly usage: string;
  readonly openImport: () => Promise<ReplaceCatalog>;
  readonly signal: AbortSignal;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Rejected lines that are printed; `--report` writes all of them. */
const MAX_PRINTED = 20;

/**
 * Runs the command `import`. Resolves with the exit code: 0 imported, 1 rejected or failed, 2 invalid
 * arguments, 130 interrupted.
 */
export async function runImport(
  args: readonly string[],
  { usage, openImport, signal, stdout, stderr }: ImportCommandOptions,
): Promise<number> {
  const request = readArguments(args);
  if (!request) {
    stderr.write(`Usage: import ${usage}\n`);
    return 2;
  }
  const { file, isStrict } = request;
  const startedMs = performance.now();
  const progress = createProgress({
    write: (text) => stderr.write(text),
    isTerminal: stderr.isTTY === true,
  });
  try {
    const report = createReport(request.report);
    const replace = await openImport();
    const outcome = await importItems({
      open: () => openSource(file, signal),
      replace,
      isStrict,
      signal,
      onProgress: (state) => progress.show(state),
      onRejections: (rejections) => report.add(rejections),
    });
    progress.end();
    for (const line of report.end()) stderr.write(`${line}\n`);
    stdout.write(`${summaryOf(outcome, performance.now() - startedMs)}\n`);
    return { imported: 0, rejected: 1, interrupted: 130 }[outcome.ending];
  } catch (error) {
    progress.end();
    const reason = error instanceof Error ? error.message : String(error);
    stderr.write(`Cannot import "${file}": ${reason}\n`);
    return 1;
  }
}

function readArguments(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { strict: { type: 'boolean' }, report: { type: 'string' } },
      allowPositionals: true,
    });
    const [file] = positionals;
    if (file === undefined || positionals.length > 1) return undefined;
    return { file, isStrict: values.strict === true, report: values.report };
  } catch {
    return undefined;
  }
}

/**
 * Collects rejected lines: the first ones to print, and all of them in `file`, if there is one.
 *
 * @throws {Error} if `file` cannot be written
 */
function createReport(file: string | undefined) {
  const printed: string[] = [];
  const descriptor = file === undefined ? undefined : openSync(file, 'w');
  let total = 0;
  return {
    add(rejections: readonly Rejection[]) {
      const lines = rejections.map(({ line, reason }) => `line ${line}: ${reason}`);
      total += lines.length;
      printed.push(...lines.slice(0, MAX_PRINTED - printed.length));
      if (descriptor !== undefined) {
        appendFileSync(descriptor, lines.map((line) => `${line}\n`).join(''));
      }
    },
    /** Closes the file; returns the lines to print. */
    end(): readonly string[] {
      if (descriptor !== undefined) closeSync(descriptor);
      if (total === printed.length) return printed;
      return [...printed, `and ${count(total - printed.length)} more lines`];
    },
  };
}

function summaryOf({ ending, items, rejected }: ImportOutcome, tookMs: number): string {
  const rejectedLines = `${count(rejected)} ${rejected === 1 ? 'line' : 'lines'} rejected`;
  const allItems = `${count(items)} ${items === 1 ? 'item' : 'items'}`;
  if (ending === 'imported') {
    const perSecond = count((items / tookMs) * 1000);
    return `Imported ${allItems} in ${duration(tookMs)} (${perSecond} per second); ${rejectedLines}`;
  }
  if (ending === 'interrupted') return `Interrupted after ${allItems}: the catalog is unchanged`;
  const reason = items === 0 ? 'it contains no valid item' : rejectedLines;
  return `Rejected the file: ${reason}; the catalog is unchanged`;
}
