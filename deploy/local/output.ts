import fs from 'node:fs';
import path from 'node:path';

import { lastLines } from './cluster/program.ts';

/**
 * Ignores that the reader of the output is gone: `make status | head -1` ends without an error, and
 * clean-up runs to its end although `make e2e | tee log` loses its reader first on Ctrl-C.
 */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/** The last ten lines of a log, as the end of a message about its program. */
export function endOfLog(file: string): string {
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  const lines = lastLines(text, 10).split('\n');
  return [`Last lines of ${path.relative('', file)}:`, ...lines].join('\n  ');
}
