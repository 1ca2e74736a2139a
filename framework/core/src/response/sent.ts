import type { RequestContext } from '../request-context.ts';

/** The status that nginx logs for a client that disconnected before its response was complete. */
const CLIENT_CLOSED = 499;

/**
 * Calls the listeners of `ctx` once its response is sent: immediately if the socket has accepted all
 * data, as it does for almost every small response, else when the response closes.
 */
export function reportSent(ctx: RequestContext): void {
  if (ctx.sentListeners.length === 0) return;
  const { res } = ctx.raw;
  if (res.destroyed || (res.writableEnded && res.writableLength === 0)) report(ctx);
  else res.once('close', () => report(ctx));
}

function report(ctx: RequestContext): void {
  const status = sentStatus(ctx);
  const listeners = ctx.sentListeners;
  ctx.sentListeners = []; // each listener runs once, even if an error follows
  for (const listener of listeners) {
    try {
      listener(status);
    } catch (error) {
      ctx.log.error('A listener failed after the response was sent', error);
    }
  }
}

function sentStatus({ raw: { res } }: RequestContext): number {
  if (res.writableFinished || !res.destroyed) return res.statusCode;
  // Node also destroys responses that wait for an earlier one with an error, but those have no socket.
  return res.errored && res.socket ? 500 : CLIENT_CLOSED;
}
