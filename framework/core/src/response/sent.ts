import type { RequestContext } from '../request-context.ts';

/** Receives the status of a response that was sent, or 499 or 500 if it was not sent completely. */
export type SentListener = (status: number) => void;

/** A client that left before its response was complete: nginx logs this status too. */
const CLIENT_LEFT = 499;

/** Adds `listener` to those that `reportSent` calls. */
export function addSentListener(ctx: RequestContext, listener: SentListener): void {
  const earlier = ctx.sentListener;
  ctx.sentListener = earlier
    ? (status) => {
        earlier(status);
        listener(status);
      }
    : listener;
}

/**
 * Calls the listeners of `ctx` once its response is sent: at once if the socket has accepted it, as
 * it does with nearly every small one; else when the client has received the rest or has left.
 */
export function reportSent(ctx: RequestContext): void {
  if (ctx.sentListener === undefined) return;
  const { res } = ctx.raw;
  if (res.destroyed || (res.writableEnded && res.writableLength === 0)) report(ctx);
  else res.once('close', () => report(ctx));
}

function report(ctx: RequestContext): void {
  const { sentListener } = ctx;
  ctx.sentListener = undefined;
  try {
    sentListener?.(statusOf(ctx));
  } catch (error) {
    ctx.log.error('A listener failed after the response was sent', error);
  }
}

function statusOf({ raw: { res } }: RequestContext): number {
  if (res.writableFinished || !res.destroyed) return res.statusCode;
  // Node destroys the responses that still wait for their turn with an error too, without a socket.
  return res.errored && res.socket ? 500 : CLIENT_LEFT;
}
