import { trimBlanks } from '@fw/core/extension';

/** One entry of a header such as `Accept`: a name in lower case and its weight (RFC 9110 §12.4.2). */
export interface Weighted {
  readonly name: string;
  /** 0 if the weight is not a number; 1 without a weight. */
  readonly quality: number;
}

/** The entries of `header` with their weights; other parameters are ignored. */
export function readWeights(header: string): readonly Weighted[] {
  return header.split(',').map((entry) => {
    const [name = '', ...parameters] = entry
      .split(';')
      .map((part) => trimBlanks(part).toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return { name, quality: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
  });
}

/**
 * Those of `encodings` that `Accept-Encoding` allows, preferred ones first; none without the header, and
 * none if the client prefers the unchanged body (RFC 9110 §12.5.3).
 */
export function acceptedEncodings<Encoding extends string>(
  header: string | undefined,
  encodings: readonly Encoding[],
): readonly Encoding[] {
  if (header === undefined) return [];
  const weights = new Map(readWeights(header).map(({ name, quality }) => [name, quality]));
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const identity = weights.get('identity') ?? 0;
  return encodings
    .filter((encoding) => weightOf(encoding) > 0 && weightOf(encoding) >= identity)
    .sort((left, right) => weightOf(right) - weightOf(left));
}
