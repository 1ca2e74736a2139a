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

/** A file with more rejected lines is probably of another format, or incomplete. */
const MAX_REJECTED = '5%';

const USAGE = 'FILE [--max-rejected PERCENT%] [--strict] [--report FILE]';

/** Replaces the catalog; prints progress and rejected lines to standard error, the result to standard output. */
export const importCommand: Command<CatalogConfig> = {
  summary: `replaces the catalog by the items of an NDJSON file (plain or gzip), unless more than ${MAX_REJECTED} of its lines are rejected`,
  usage: USAGE,
  async run(config, args, { signal }) {
    const request = readArguments(args);
    if (!request) {
      process.stderr.write(`Usage: import ${USAGE}\n`);
      return 2;
    }
    const { file, maxRejectedPercent } = request;
    const startedMs = performance.now();
    try {
      if (request.report !== undefined && isSameFile(file, request.report)) {
        throw new Error('the report would overwrite it; name another file after --report');
      }
      const report = createReport(request.report);
      const outcome = await importItems({
        open: () => openSource(file, signal),
        replace: await openImport(config),
        maxRejectedPercent,
        signal,
        onProgress: createProgress((text) => process.stderr.write(text)),
        onRejections: (rejections) => report.add(rejections),
      }).finally(() => {
        for (const line of report.end()) process.stderr.write(`${line}\n`);
      });
      const tookMs = performance.now() - startedMs;
      process.stdout.write(`${summaryOf(outcome, { tookMs, maxRejectedPercent })}\n`);
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
      options: {
        'max-rejected': { type: 'string', default: MAX_REJECTED },
        strict: { type: 'boolean' },
        report: { type: 'string' },
      },
      allowPositionals: true,
    });
    const [file] = positionals;
    const [, percent] = /^(100|\d{1,2}(?:\.\d+)?)%$/.exec(values['max-rejected']) ?? [];
    if (file === undefined || positionals.length > 1 || percent === undefined) return undefined;
    return { file, maxRejectedPercent: values.strict ? 0 : Number(percent), report: values.report };
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

function summaryOf(
  { ending, items, rejected }: ImportOutcome,
  { tookMs, maxRejectedPercent }: { readonly tookMs: number; readonly maxRejectedPercent: number },
): string {
  const allItems = `${count(items)} ${items === 1 ? 'item' : 'items'}`;
  if (ending === 'imported') {
    const perSecond = count((items / tookMs) * 1000);
    const rejectedLines = `${count(rejected)} ${rejected === 1 ? 'line' : 'lines'} rejected`;
    return `Imported ${allItems} in ${duration(tookMs)} (${perSecond} per second); ${rejectedLines}`;
  }
  if (ending === 'interrupted') return `Interrupted after ${allItems}: the catalog is unchanged`;
  if (items === 0) return 'Rejected the file: it contains no valid item; the catalog is unchanged';
  const lines = items + rejected;
  const percent = ((rejected / lines) * 100).toLocaleString('en', { maximumSignificantDigits: 3 });
  return `Rejected the file: ${count(rejected)} of ${count(lines)} lines rejected (${percent}%), at most ${maxRejectedPercent}% may be (--max-rejected); the catalog is unchanged`;
}
