import type { Context } from '@fw/core';
import { HttpError } from '@fw/errors';

/**
 * Returns the one of `types` that the client prefers in `Accept`, or the first of several equally
 * preferred ones, and adds `Vary: Accept` to the response.
 *
 * ```ts
 * const type = negotiate(ctx, ['application/json', 'text/csv']);
 * ```
 *
 * @throws {HttpError} 406 with `types`, if the client accepts none of them (RFC 9110 §12.5.1)
 */
export function negotiate<Type extends string>(ctx: Context, types: readonly Type[]): Type {
  ctx.append('Vary', 'Accept');
  const accept = ctx.get('accept') ?? '*/*';
  const [first] = types;
  if (accept === '*/*' && first) return first;
  const ranges = readRanges(accept);
  let best: { readonly type: Type; readonly quality: number } | undefined;
  for (const type of types) {
    const quality = qualityOf(type, ranges);
    if (quality > (best?.quality ?? 0)) best = { type, quality };
  }
  if (!best) throw new HttpError(406, `expected an Accept that allows ${types.join(' or ')}`);
  return best.type;
}

interface MediaRange {
  readonly range: string;
  readonly quality: number;
}

function readRanges(accept: string): readonly MediaRange[] {
  return accept.split(',').map((entry) => {
    const [range = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return { range, quality: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
  });
}

/** The weight of the most specific range that covers `type`; 0 if none does. */
function qualityOf(type: string, ranges: readonly MediaRange[]): number {
  const covering = [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*'];
  for (const name of covering) {
    const found = ranges.find(({ range }) => range === name);
    if (found) return found.quality;
  }
  return 0;
}
