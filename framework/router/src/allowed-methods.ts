import { type Context, DONE, type Middleware, unmatchedStatus } from '@fw/core';

/**
 * Answers a request whose path is known and whose method is not: `OPTIONS` with 200, any other with
 * 405, both with `Allow` (RFC 9110 §10.2.1). `methodsOf` lists the methods of a path.
 */
export function answerMethods(methodsOf: (path: string) => readonly string[]): Middleware {
  return (ctx, next) => {
    if (ctx.route || ctx.responded || unmatchedStatus(ctx.method) === 501) return next();
    const methods = methodsOf(ctx.path);
    return methods.length === 0 ? next() : answer(ctx, methods);
  };
}

function answer(ctx: Context, methods: readonly string[]): Promise<void> {
  ctx.set('Allow', methods.join(', '));
  if (ctx.method !== 'OPTIONS') ctx.throw(405, `This path does not take ${ctx.method}`);
  ctx.status = 200;
  ctx.send('');
  return DONE;
}
