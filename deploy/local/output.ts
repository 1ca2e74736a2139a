/**
 * Lets this program go on to its end, and take back what it has made, though nobody reads any more what
 * it says: on Ctrl-C, `make e2e | tee log` loses its reader before it has taken anything back.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
