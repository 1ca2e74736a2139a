import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Most requests that wait on one connection; a client that sends more is disconnected. */
export const MAX_WAITING = 100;

const waiting = new WeakMap<Socket, number>();

/** Handles one request. */
type Handle = (req: IncomingMessage, res: ServerResponse) => void;

/** Whether an earlier request on the connection still waits for its response (RFC 9112 §9.3.2). */
export function isPipelined(res: ServerResponse): boolean {
  return res.socket === null; // Node gives each response the connection when it is its turn
}

/**
 * Handles a pipelined request when it is its turn. So the responses on one connection take the memory
 * of one response, however many requests a client sends without reading.
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
