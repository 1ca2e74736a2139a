import { appendFileSync, closeSync, openSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';

import type { Command } from '@fw/service';

import type { CatalogConfig } from '../config.ts';
import { openImport } from '../store/open.ts';
import { type ImportOutcome, importItems } from './import.ts';
import { count, createProgress, duration } from './progress.ts';
import type { Rejection } from './read-items.ts';
import { openSource } from './source.ts';

/** Rejected lines that are printed; `--report` writes all of them. */
const MAX_PRINTED = 20;

const EXIT_CODES = { imported: 0, rejected: 1, interrupted: 130 };

const USAGE = 'FILE [--strict] [--report FILE]';

/** Replaces the catalog; prints progress and rejected lines to standard error, the result to standard output. */
export const importCommand: Command<CatalogConfig> = {
  summary: 'replaces the catalog by the items of an NDJSON file (plain or gzip)',
  usage: USAGE,
  async run(config, args, { signal }) {
    const request = readArguments(args);
    if (!request) {
      process.stderr.write(`Usage: import ${USAGE}\n`);
      return 2;
    }
    const { file, isStrict } = request;
    const startedMs = performance.now();
    try {
      if (request.report !== undefined && isSameFile(file, request.report)) {
        throw new Error('the report would overwrite it; name another file after --report');
      }
      const report = createReport(request.report);
      const outcome = await importItems({
        open: () => openSource(file, signal),
        replace: await openImport(config),
        isStrict,
        signal,
        onProgress: createProgress((text) => process.stderr.write(text)),
        onRejections: (rejections) => report.add(rejections),
      }).finally(() => {
        for (const line of report.end()) process.stderr.write(`${line}\n`);
      });
      process.stdout.write(`${summaryOf(outcome, performance.now() - startedMs)}\n`);
      return EXIT_CODES[outcome.ending];
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      process.stderr.write(`Cannot import "${file}": ${reason}\n`);
      return 1;
    }
  },
};

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

/** Whether two paths name one file, also through links. */
function isSameFile(path: string, other: string): boolean {
  const [stats, others] = [path, other].map((each) => statSync(each, { throwIfNoEntry: false }));
  return stats !== undefined && stats.dev === others?.dev && stats.ino === others.ino;
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
