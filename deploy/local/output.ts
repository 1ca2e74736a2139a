import fs from 'node:fs';
import path from 'node:path';

/**
 * Ignores that the reader of the output is gone: `make status | head -1` ends without an error, and
 * clean-up runs to its end although `make e2e | tee log` loses its reader first on Ctrl-C.
 */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/** The last ten lines of a log, as the end of a message about its program. */
export function lastLines(file: string): string {
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trimEnd() : '';
  const lines = text ? text.split('\n').slice(-10) : ['(empty)'];
  return [`Last lines of ${path.relative('', file)}:`, ...lines].join('\n  ');
}
