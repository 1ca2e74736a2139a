declare global {
  interface Buffer {
    latin1Slice(start: number, end: number): string;
  }
}

/**
 * Paths in turn, as a parser hands them out: each call makes a new string from bytes, whose hash
 * nobody has computed yet. A string used twice would make a router with a map look faster than it is.
 */
export function createPathSource(paths: readonly string[]): () => string {
  const bytes = Buffer.from(paths.join(''), 'latin1');
  const starts = new Int32Array(paths.length + 1);
  for (const [index, path] of paths.entries()) {
    starts[index + 1] = (starts[index] ?? 0) + path.length;
  }
  let index = 0;
  return () => {
    const path = bytes.latin1Slice(starts[index] ?? 0, starts[index + 1] ?? 0);
    index = index + 1 === paths.length ? 0 : index + 1;
    return path;
  };
}
