import type { ServerResponse } from 'node:http';

/**
 * A signal that aborts when the client disconnects before `res` is complete, or after `remainingMs`.
 * Without `remainingMs`, there is no deadline.
 */
export function createAbortSignal(
  res: ServerResponse,
  remainingMs: number | undefined,
): AbortSignal {
  const abort = new AbortController();
  const timer =
    remainingMs === undefined ? undefined : setTimeout(expire, Math.max(0, remainingMs), abort);
  const onClose = () => {
    clearTimeout(timer);
    if (res.writableFinished) return;
    const reason = 'The client disconnected before the response was complete';
    abort.abort(new DOMException(reason, 'AbortError'));
  };
  if (res.destroyed) onClose();
  else res.once('close', onClose);
  return abort.signal;
}

function expire(abort: AbortController): void {
  abort.abort(new DOMException('The deadline of the request passed', 'TimeoutError'));
}

/** Whether the disconnection of the client caused `error`. */
export function isClientAbort(
  { raw }: { readonly raw: { readonly res: ServerResponse } },
  error: unknown,
): boolean {
  return raw.res.destroyed && error instanceof Error && error.name === 'AbortError';
}
