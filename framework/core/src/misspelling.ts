const MOST_SLIPS = 2;

/**
 * The one of `known` that `name` was likely meant to be: other letters' case, or up to two slips.
 * Names with fewer than `leastLetters`, by default 6, are near to too many others.
 */
export function likelyMeant(
  name: string,
  known: Iterable<string>,
  { leastLetters = 6 }: { readonly leastLetters?: number } = {},
): string | undefined {
  const upper = name.toUpperCase();
  let nearest: string | undefined;
  let fewest = MOST_SLIPS + 1;
  for (const candidate of known) {
    const upperCandidate = candidate.toUpperCase();
    if (upper === upperCandidate) return candidate;
    if (Math.min(name.length, candidate.length) < leastLetters) continue;
    if (Math.abs(name.length - candidate.length) > MOST_SLIPS) continue;
    const slips = slipsBetween(upper, upperCandidate);
    // Two slips of six letters make another word; of nine they are slips.
    if (slips < fewest && slips * 4 < candidate.length) {
      nearest = candidate;
      fewest = slips;
    }
  }
  return nearest;
}

/**
 * How many letters were left out, added, changed or swapped with their neighbour between two words:
 * the Damerau-Levenshtein distance, restricted to one edit of each letter. Of words that are too far
 * apart only that they are: a process has many names to compare, and has just started.
 */
function slipsBetween(one: string, other: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped =
        row > 1 &&
        column > 1 &&
        one[row - 1] === other[column - 2] &&
        one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    if (Math.min(...current) > MOST_SLIPS) return MOST_SLIPS + 1;
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
}
