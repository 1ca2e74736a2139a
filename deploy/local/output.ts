/**
 * Ignores that the reader of the output is gone: `make status | head -1` ends without an error, and
 * clean-up runs to its end although `make e2e | tee log` loses its reader first on Ctrl-C.
 */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
