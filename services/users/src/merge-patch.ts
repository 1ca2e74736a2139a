import { type Middleware, UnsupportedMediaTypeError } from 'fw';

/** The media types of a merge patch (RFC 7396): its own, and JSON's. */
export const PATCH_TYPES = ['application/merge-patch+json', 'application/json'];

/**
 * Answers 415 to a PATCH in any other type, and says in `Accept-Patch` which there are (RFC 5789 §2.2):
 * other patch formats are JSON too, and would be misread. Put it before the body parser.
 */
export const onlyMergePatches: Middleware = (ctx, next) => {
  if (ctx.method !== 'PATCH') return next();
  const [type = ''] = (ctx.get('content-type') ?? '').split(';');
  if (PATCH_TYPES.includes(type.trim().toLowerCase())) return next();
  const types = PATCH_TYPES.join(', ');
  throw new UnsupportedMediaTypeError(`The body must be a merge patch: ${types}`, {
    headers: { 'Accept-Patch': types },
  });
};
