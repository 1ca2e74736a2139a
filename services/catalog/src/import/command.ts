import { appendFileSync, closeSync, openSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { type ImportOutcome, importItems } from './import.ts';
import { count, createProgress, duration } from './progress.ts';
import { openSource } from './source.ts';
import type { ImportTarget, Refusal } from './target.ts';

const USAGE = 'FILE [--strict] [--report FILE]';

/** Where the command writes; a process's own streams. */
export interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface ImportCommandOptions {
  readonly openTarget: () => Promise<ImportTarget>;
  readonly signal: AbortSignal;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** What a terminal shows of the refused lines. */
const SHOWN = 20;

/**
 * Imports a file as the command line says; resolves with the exit code: 0 for imported, 1 for refused
 * or failed, 2 for arguments that make no sense, 130 for interrupted.
 */
export async function runImport(
  args: readonly string[],
  options: ImportCommandOptions,
): Promise<number> {
  const { openTarget, signal, stdout, stderr } = options;
  const asked = readArguments(args);
  if (!asked) {
    stderr.write(`Usage: import ${USAGE}\n`);
    return 2;
  }
  const { file, isStrict } = asked;
  const startedMs = performance.now();
  const progress = createProgress({
    write: (text) => stderr.write(text),
    isTerminal: stderr.isTTY === true,
  });
  let target: ImportTarget | undefined;
  try {
    const report = createReport(asked.report);
    target = await openTarget();
    const outcome = await importItems({
      open: () => openSource(file, signal),
      target,
      isResumable: file !== '-',
      isStrict,
      signal,
      onEvent: (event) => progress.show(event),
      onRefusals: (refusals) => report.add(refusals),
    });
    progress.end();
    for (const line of report.end()) stderr.write(`${line}\n`);
    stdout.write(`${summaryOf(outcome, { file, tookMs: performance.now() - startedMs })}\n`);
    return { imported: 0, refused: 1, interrupted: 130 }[outcome.ending];
  } catch (error) {
    progress.end();
    const reason = error instanceof Error ? error.message : String(error);
    stderr.write(`Cannot import "${file}": ${reason}\n`);
    return 1;
  } finally {
    await target?.close();
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
 * Collects the refused lines: the first ones to show, all of them in a file if one is named.
 *
 * @throws {Error} if that file cannot be written
 */
function createReport(file: string | undefined) {
  const first: string[] = [];
  const descriptor = file === undefined ? undefined : openSync(file, 'w');
  let lines = 0;
  return {
    add(refusals: readonly Refusal[]) {
      const texts = refusals.map(({ line, reason }) => `line ${line}: ${reason}`);
      lines += texts.length;
      first.push(...texts.slice(0, Math.max(0, SHOWN - first.length)));
      if (descriptor !== undefined) appendFileSync(descriptor, `${texts.join('\n')}\n`);
    },
    /** The lines to show. */
    end(): readonly string[] {
      if (descriptor !== undefined) closeSync(descriptor);
      if (lines === first.length) return first;
      return [...first, `and ${count(lines - first.length)} more lines`];
    },
  };
}

function summaryOf(
  { ending, items, refused }: ImportOutcome,
  { file, tookMs }: { readonly file: string; readonly tookMs: number },
): string {
  const lines = `${count(refused)} ${refused === 1 ? 'line' : 'lines'} refused`;
  const all = `${count(items)} ${items === 1 ? 'item' : 'items'}`;
  if (ending === 'imported') {
    const perSecond = count((items / tookMs) * 1000);
    return `Imported ${all} in ${duration(tookMs)}, ${perSecond} a second; ${lines}`;
  }
  if (ending === 'interrupted') {
    const again = file === '-' ? 'begins again' : 'goes on from here';
    return `Interrupted after ${all}: the catalog is as it was; the same command ${again}`;
  }
  const reason = items === 0 ? 'there is no item in it' : lines;
  return `Refused the file: ${reason}; the catalog is as it was`;
}
