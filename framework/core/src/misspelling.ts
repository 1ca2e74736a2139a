/**
 * The name in `known` that `name` probably misspells: it differs only in case, or by up to two edits.
 * Names shorter than `minLength`, by default 6, only match if they differ in case.
 */
export function likelyMeant(
  name: string,
  known: Iterable<string>,
  { minLength = 6 }: { readonly minLength?: number } = {},
): string | undefined {
  const names = [...known];
  for (const edits of [0, 1, 2]) {
    const meant = names.find(
      (candidate) =>
        // At most one edit per four letters: more would make another word.
        (edits === 0 || Math.min(name.length, candidate.length) >= minLength) &&
        edits * 4 < candidate.length &&
        isWithin(edits, name.toUpperCase(), candidate.toUpperCase()),
    );
    if (meant !== undefined) return meant;
  }
  return undefined;
}

/** Whether at most `edits` inserted, removed, changed or swapped letters turn `from` into `to`. */
function isWithin(edits: number, from: string, to: string): boolean {
  if (from === to) return true;
  if (Math.abs(from.length - to.length) > edits || edits === 0) return false;
  let same = 0;
  while (from[same] === to[same]) same++;
  const [a, b] = [from.slice(same), to.slice(same)];
  return (
    isWithin(edits - 1, a.slice(1), b.slice(1)) ||
    isWithin(edits - 1, a.slice(1), b) ||
    isWithin(edits - 1, a, b.slice(1)) ||
    (a[0] === b[1] && a[1] === b[0] && isWithin(edits - 1, a.slice(2), b.slice(2)))
  );
}
