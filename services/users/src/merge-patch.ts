import { parseMediaType } from '@fw/core/extension';
import { type Middleware, UnsupportedMediaTypeError } from 'fw';

/** The accepted media types of a merge patch (RFC 7396). */
export const PATCH_TYPES = ['application/merge-patch+json', 'application/json'];

/**
 * Rejects a PATCH of another media type with 415 and `Accept-Patch` (RFC 5789 §2.2): the body parser
 * would read other JSON patch formats as merge patches. Register it before the body parser.
 */
export const onlyMergePatches: Middleware = (ctx, next) => {
  if (ctx.method !== 'PATCH') return next();
  const type = parseMediaType(ctx.get('content-type') ?? '')?.type ?? '';
  if (PATCH_TYPES.includes(type)) return next();
  const types = PATCH_TYPES.join(', ');
  throw new UnsupportedMediaTypeError(`The body must be a merge patch: ${types}`, {
    headers: { 'Accept-Patch': types },
  });
};
