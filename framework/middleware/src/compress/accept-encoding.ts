import { readWeights } from '../weights.ts';
import type { Encoding } from './encodings.ts';

/**
 * The one of `encodings` with the highest weight in `Accept-Encoding`, or the first of several;
 * `undefined` if the client accepts none of them or prefers the unchanged body (RFC 9110 §12.5.3).
 */
export function selectEncoding(
  header: string | undefined,
  encodings: readonly Encoding[],
): Encoding | undefined {
  if (header === undefined) return undefined;
  const weights = new Map(readWeights(header).map(({ name, quality }) => [name, quality]));
  let selected: Encoding | undefined;
  let highest = 0;
  for (const encoding of encodings) {
    const quality = weights.get(encoding) ?? weights.get('*') ?? 0;
    if (quality <= highest) continue;
    highest = quality;
    selected = encoding;
  }
  return highest < (weights.get('identity') ?? 0) ? undefined : selected;
}
