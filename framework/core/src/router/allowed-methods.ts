import type { Context, Middleware } from '../context.ts';
import { aListOf, aString, readOptions } from '../options.ts';
import { MethodNotAllowedError } from '../response/http-error.ts';
import { unmatchedStatus } from '../response/status.ts';
import type { RouteTable } from './route-table.ts';
import type { AllowedMethodsOptions } from './router.ts';

/**
 * Responds to requests for a path in `tables` with an unregistered method: `OPTIONS` with 200, any other
 * with 405, both with `Allow` (RFC 9110 §10.2.1). A method that neither the framework nor a route
 * knows passes, because its response is 501.
 */
export function createAllowedMethods(
  tables: () => readonly RouteTable[],
  options: AllowedMethodsOptions = {},
): Middleware {
  const { patchTypes } = readOptions('allowedMethods()', options, {
    patchTypes: aListOf('a list of media types', aString),
  });
  const acceptPatch = patchTypes?.join(', ');
  return (ctx, next) => {
    if (ctx.route || ctx.responded) return next();
    const { method, path } = ctx;
    const isKnown = () => tables().some((table) => table.hasMethod(method));
    if (unmatchedStatus(method) === 501 && !isKnown()) return next();
    const methods = [...new Set(tables().flatMap((table) => table.methodsOf(path)))];
    return methods.length === 0 ? next() : respond(ctx, methods, acceptPatch);
  };
}

function respond(ctx: Context, methods: readonly string[], acceptPatch: string | undefined): void {
  if (ctx.method !== 'OPTIONS') {
    throw new MethodNotAllowedError(methods, `This path does not take ${ctx.method}`);
  }
  ctx.set('Allow', methods.join(', '));
  if (acceptPatch && methods.includes('PATCH')) ctx.set('Accept-Patch', acceptPatch);
  ctx.status = 200;
  ctx.send('');
}
