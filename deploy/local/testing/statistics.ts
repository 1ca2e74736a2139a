/**
 * The median of `values`.
 *
 * @throws {RangeError} if there are none
 */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const low = sorted[Math.floor(middle)];
  const high = sorted[Math.ceil(middle)];
  if (low === undefined || high === undefined) {
    throw new RangeError('Cannot compute the median of no values');
  }
  return (low + high) / 2;
}

/** `values`, rotated to begin with the one at `start` (modulo their number). */
export function rotate<T>(values: readonly T[], start: number): readonly T[] {
  const cut = start % Math.max(1, values.length);
  return [...values.slice(cut), ...values.slice(0, cut)];
}
