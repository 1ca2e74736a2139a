import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Logger } from '../logger.ts';
import { readTarget } from '../request/request-target.ts';
import { statusOf } from '../response/problem.ts';
import { closingOfServer } from './close.ts';
import { closeWithProblem, currentResponse } from './unreadable.ts';

/**
 * Takes over the connection of a WebSocket request, such as `handleUpgrade` of the package ws. `head`
 * contains the data that followed the request.
 */
export type UpgradeHandler = (req: IncomingMessage, socket: Duplex, head: Buffer) => unknown;

/** Whether a client asks for a WebSocket (RFC 6455 §4.1); other protocols, such as h2c, are ignored. */
export function isWebSocketRequest(req: IncomingMessage): boolean {
  return req.headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Passes WebSocket requests of `server` to `upgrade`. If that fails before it has sent anything, the
 * response is the status of the error; else the connection is destroyed.
 */
export function handleUpgrades(server: Server, upgrade: UpgradeHandler, logger: Logger): void {
  const accept = async (req: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> => {
    const { socket } = req;
    const sentBytes = socket.bytesWritten;
    try {
      await upgrade(req, stream, head);
    } catch (error) {
      const status = statusOf(error);
      if (status >= 500) {
        logger.error(`${req.method} ${readTarget(req).path}: the upgrade failed`, error);
      }
      if (socket.bytesWritten === sentBytes) closeWithProblem(socket, status);
      else socket.destroy();
    }
  };
  // In Node 26, `stream` is not the connection if the request has a body, but the data after that body.
  server.on('upgrade', (req: IncomingMessage, stream: Duplex, head: Buffer) => {
    const { socket } = req;
    stream.on('error', () => {}); // without a listener, a reset connection would end the process
    if (currentResponse(socket)) {
      socket.destroy(); // a pipelined request: its data would corrupt the response before it
      return;
    }
    const status = rejectionOf(server, req);
    if (status === undefined) accept(req, stream, head);
    else closeWithProblem(socket, status);
  });
}

/** The status of a request that is not upgraded; `undefined` if it may be. */
function rejectionOf(server: Server, req: IncomingMessage): number | undefined {
  if (!isWebSocketRequest(req)) return 501; // only before Node 22.21 and 24.9, which cannot ignore the header
  if (closingOfServer(server).aborted) return 503;
  try {
    readTarget(req);
    return undefined;
  } catch {
    return 400;
  }
}
