import { annotate, type Context, type Middleware } from '@fw/core';
import { HttpError } from '@fw/errors';

import { readWeights, type Weighted } from './shared/accept.ts';
import { addVary } from './shared/response-headers.ts';

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
  addVary(ctx, 'Accept');
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

/** Sends a 406 response to requests whose `Accept` excludes JSON. */
export const onlyJson: Middleware = annotate(
  (ctx, next) => {
    negotiate(ctx, ['application/json']);
    return next();
  },
  { errors: [{ status: 406, code: 'NOT_ACCEPTABLE' }] },
);

/** The weight of the most specific range that covers `type`; 0 if none does. */
function qualityOf(type: string, ranges: readonly Weighted[]): number {
  const [offer] = readWeights(type);
  let most = -1;
  let quality = 0;
  for (const range of ranges) {
    const specificity = offer ? specificityOf(range, offer) : -1;
    if (specificity > most) {
      most = specificity;
      quality = range.quality;
    }
  }
  return quality;
}

/**
 * How well `range` covers `offer`, negative if it does not. A range with a parameter that the offer lacks, such
 * as the charset of JSON, covers it only if no other range does: otherwise many clients would get 406.
 */
function specificityOf({ name, parameters }: Weighted, offer: Weighted): number {
  const group = offer.name.slice(0, offer.name.indexOf('/'));
  const level = ['*/*', `${group}/*`, offer.name].indexOf(name);
  if (level === -1) return -1;
  if (!parameters.every((parameter) => offer.parameters.includes(parameter))) return 0;
  return 1 + level * MAX_PARAMETERS + Math.min(parameters.length, MAX_PARAMETERS - 1);
}

/** More than any type has. */
const MAX_PARAMETERS = 100;
