import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum of waiting requests on one connection; a client that sends more is disconnected. */
export const MAX_WAITING = 100;

const waiting = new WeakMap<Socket, number>();

/** Handles one request. */
type Handle = (req: IncomingMessage, res: ServerResponse) => void;

/** Whether an earlier request on the connection has no complete response yet (RFC 9112 §9.3.2). */
export function isPipelined(res: ServerResponse): boolean {
  return res.socket === null; // Node assigns the connection to one response at a time
}

/**
 * Handles a pipelined request after the earlier ones. The responses on one connection therefore use
 * the memory of one response, even if the client sends many requests without reading.
 */
export function handleInTurn(req: IncomingMessage, res: ServerResponse, handle: Handle): void {
  const { socket } = req;
  const count = (waiting.get(socket) ?? 0) + 1;
  if (count > MAX_WAITING) {
    socket.destroy();
    return;
  }
  waiting.set(socket, count);
  // The event is emitted in the asynchronous context of the earlier request, and before Node has
  // prepared the response.
  const begin = AsyncResource.bind(() => {
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
    process.nextTick(handle, req, res);
  });
  res.once('socket', begin);
}
