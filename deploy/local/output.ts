/**
 * Ignores that the reader of the output is gone, so that clean-up runs to its end: on Ctrl-C,
 * `make e2e | tee log` loses its reader first.
 */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
