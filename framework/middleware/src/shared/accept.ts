import { trimBlanks } from '@fw/core/body';

/** One entry of a header such as `Accept` (RFC 9110 §12.4.2, §12.5.1). Texts are in lower case. */
export interface Weighted {
  readonly name: string;
  /** Without the weight, such as `level=1`. */
  readonly parameters: readonly string[];
  /** 0 if the weight is malformed, such as `q=5`; 1 without a weight. */
  readonly quality: number;
}

/** RFC 9110 §12.4.2; old clients omit the zero. */
const WEIGHT = /^(?:0|0?\.\d{0,3}|1(?:\.0{0,3})?)$/;

/** The entries of `header` with their weights. */
export function readWeights(header: string): readonly Weighted[] {
  return split(header, ',').map((entry) => {
    const [name = '', ...parameters] = split(entry, ';').map((part) =>
      trimBlanks(part).toLowerCase(),
    );
    const at = parameters.findIndex((parameter) => parameter.startsWith('q='));
    const weight = parameters[at]?.slice(2);
    return {
      name,
      parameters: parameters.filter((_, index) => index !== at).map(unquote),
      quality: weight === undefined ? 1 : WEIGHT.test(weight) ? Number(weight) : 0,
    };
  });
}

/** Splits at separators outside of quoted texts (RFC 9110 §5.6.4). A quote without an end is an ordinary character. */
function split(text: string, separator: string): string[] {
  if (!text.includes('"')) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isQuoted && character === '\\') at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return isQuoted ? text.split(separator) : [...parts, text.slice(start)];
}

/** `level="1"` is `level=1` (RFC 9110 §5.6.6). */
function unquote(parameter: string): string {
  return parameter.replace(/="(.*)"$/, (_, text) => `=${text.replaceAll(/\\(.)/g, '$1')}`);
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
