import { trimBlanks } from '@fw/core/extension';

/** One entry of a header such as `Accept`: a name in lower case and its weight (RFC 9110 §12.4.2). */
export interface Weighted {
  readonly name: string;
  /** 0 if the weight is malformed; 1 without a weight. */
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
