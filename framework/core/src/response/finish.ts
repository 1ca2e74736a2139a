import { hasRun } from '../compose.ts';
import type { RequestContext } from '../request-context.ts';
import { recordError, toError } from './record-error.ts';
import { reportSent } from './sent.ts';
import { writeResponse } from './write-response.ts';

/** Writes the response once all middleware has run. */
export function finish(ctx: RequestContext, running: Promise<void>): void {
  if (hasRun(running)) {
    complete(ctx);
    return;
  }
  running.then(
    () => complete(ctx),
    (error: unknown) => fail(ctx, error),
  );
}

function complete(ctx: RequestContext): void {
  try {
    writeResponse(ctx, fail);
  } catch (error) {
    fail(ctx, error);
    return;
  }
  reportSent(ctx);
}

/** Responds to an error that no middleware caught. */
function fail(ctx: RequestContext, error: unknown): void {
  try {
    try {
      recordError(ctx, error);
    } catch (unwritable) {
      recordError(ctx, unwritable); // the headers or issues of the error are invalid
    }
    writeResponse(ctx, fail);
  } catch (failure) {
    ctx.log.error(`${ctx.method} ${ctx.path} failed without a response`, failure);
    ctx.raw.res.destroy(toError(failure));
  }
  reportSent(ctx);
}
