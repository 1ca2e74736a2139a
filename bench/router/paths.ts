declare global {
  interface Buffer {
    latin1Slice(start: number, end: number): string;
  }
}

/**
 * Returns the paths in turn. Each call creates a new string from bytes, as an HTTP parser does; its
 * hash is not computed yet. With reused strings, routers with a map would look faster than they are.
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
