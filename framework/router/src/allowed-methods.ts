import { type Context, MethodNotAllowedError, type Middleware } from '@fw/core';
import { DONE, unmatchedStatus } from '@fw/core/extension';
import { aListOf, aString, readOptions } from '@fw/core/options';

export interface AllowedMethodsOptions {
  /** The media types that PATCH takes: `Accept-Patch` of OPTIONS (RFC 5789 §3.1). Default: left out. */
  readonly patchTypes?: readonly string[];
}

/** What a router knows of methods. */
export interface KnownMethods {
  /** Whether any route takes `method`. */
  isUsed(method: string): boolean;
  /** The methods that the routes for `path` take. */
  methodsOf(path: string): readonly string[];
}

/**
 * Answers a request whose path is known and whose method is not: `OPTIONS` with 200, any other with
 * 405, both with `Allow` (RFC 9110 §10.2.1). A method that nobody knows is left to be answered 501.
 */
export function answerMethods(
  known: KnownMethods,
  options: AllowedMethodsOptions = {},
): Middleware {
  const { patchTypes } = readOptions('allowedMethods()', options, {
    patchTypes: aListOf('a list of media types', aString),
  });
  const acceptPatch = patchTypes?.join(', ');
  return (ctx, next) => {
    if (ctx.route || ctx.responded) return next();
    if (unmatchedStatus(ctx.method) === 501 && !known.isUsed(ctx.method)) return next();
    const methods = known.methodsOf(ctx.path);
    return methods.length === 0 ? next() : answer(ctx, methods, acceptPatch);
  };
}

function answer(
  ctx: Context,
  methods: readonly string[],
  acceptPatch: string | undefined,
): Promise<void> {
  if (ctx.method !== 'OPTIONS') {
    throw new MethodNotAllowedError(methods, `This path does not take ${ctx.method}`);
  }
  ctx.set('Allow', methods.join(', '));
  if (acceptPatch && methods.includes('PATCH')) ctx.set('Accept-Patch', acceptPatch);
  ctx.status = 200;
  ctx.send('');
  return DONE;
}
