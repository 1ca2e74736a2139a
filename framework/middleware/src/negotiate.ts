import type { Context } from '@fw/core';
import { HttpError } from '@fw/errors';

import { readWeights, type Weighted } from './accept.ts';

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
  const ranges = readWeights(accept);
  let best: { readonly type: Type; readonly quality: number } | undefined;
  for (const type of types) {
    const quality = qualityOf(type, ranges);
    if (quality > (best?.quality ?? 0)) best = { type, quality };
  }
  if (!best) throw new HttpError(406, `expected an Accept that allows ${types.join(' or ')}`);
  return best.type;
}

/** The weight of the most specific range that covers `type`; 0 if none does. */
function qualityOf(type: string, ranges: readonly Weighted[]): number {
  const covering = [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*'];
  for (const range of covering) {
    const found = ranges.find(({ name }) => name === range);
    if (found) return found.quality;
  }
  return 0;
}
