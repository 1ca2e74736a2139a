import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { currentResponse, TrackedResponse } from '../node/tracked-response.ts';
import { closeWithProblem, destroyAfterLinger } from './raw-requests.ts';
import { makeUpgradable } from './switch-protocols.ts';

let hasRoutes = false;

/**
 * For packages with routes for WebSockets: servers that start from now on pass WebSocket requests to
 * their application with the connection. Without such routes, these are ordinary requests, as RFC 9110
 * §7.8 allows.
 */
export function acceptUpgrades(): void {
  hasRoutes = true;
}

/** Whether `acceptUpgrades` was called. */
export function acceptsUpgrades(): boolean {
  return hasRoutes;
}

/** Whether a request can be upgraded (RFC 6455 §4.1). A body would precede the data of the new protocol. */
export function isUpgradable(req: IncomingMessage): boolean {
  const { method, httpVersion, headers } = req;
  return (
    method === 'GET' &&
    httpVersion === '1.1' &&
    headers.upgrade?.toLowerCase() === 'websocket' && // others, such as h2c, are ignored
    headers['transfer-encoding'] === undefined &&
    (headers['content-length'] ?? '0') === '0'
  );
}

/**
 * Passes the upgradable requests of `server` to `handle`, as all others. The connection is closed after
 * their response, unless that is an upgrade.
 */
export function dispatchUpgrades(server: Server, handle: RequestListener): void {
  server.on('upgrade', (req: IncomingMessage, _stream: Duplex, head: Buffer) => {
    const { socket } = req;
    if (currentResponse(socket)) {
      socket.destroy(); // a pipelined request: its data would corrupt the response before it
      return;
    }
    if (!isUpgradable(req)) {
      closeWithProblem(socket, 501); // only before Node 22.21 and 24.9, which cannot ignore the header
      return;
    }
    const res = new TrackedResponse(req);
    res.shouldKeepAlive = false;
    res.assignSocket(socket);
    res.on('finish', closeAfterResponse);
    socket.on('drain', onDrain).on('end', onEnd); // Node has removed its own listeners
    makeUpgradable(req, head);
    handle(req, res);
  });
}

function onDrain(this: Socket): void {
  currentResponse(this)?.emit('drain');
}

/** The client has disconnected before the response was complete. */
function onEnd(this: Socket): void {
  if (currentResponse(this)?.writableEnded === false) this.destroy();
}

/** Discards the data after the request: unread, it would reset the connection before the client has read the response. */
function closeAfterResponse(this: ServerResponse): void {
  const { socket } = this.req;
  socket.resume().end();
  destroyAfterLinger(socket);
}
