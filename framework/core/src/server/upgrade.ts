import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { Context } from '../context.ts';
import { currentResponse, TrackedResponse } from '../node/tracked-response.ts';
import { type RequestContext, recordOf } from '../request-context.ts';
import { ServiceUnavailableError } from '../response/http-error.ts';
import type { ResponseHeaders } from '../response/response-headers.ts';
import {
  connectionsOfSocket,
  rememberUpgrade,
  type UpgradedConnection,
  upgradeOf,
} from './connections.ts';
import { closeWithProblem, destroyAfterLinger } from './raw-requests.ts';

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

/** The data that followed a request which can still be upgraded. */
const heads = new WeakMap<IncomingMessage, Buffer>();

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
    heads.set(req, head);
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

/** The connection of a request that leaves HTTP. */
export interface RawConnection {
  readonly socket: Duplex;
  /** The data that followed the request. */
  readonly head: Buffer;
  /** The headers that middleware has set, as lines for the 101 response. */
  readonly headers: readonly string[];
}

/** Sends the 101 response. If it throws before that, the error is the response. */
export type TakeOver = (connection: RawConnection) => UpgradedConnection;

/**
 * Whether the client asks for a WebSocket and `switchProtocols` can give it the connection. Other requests
 * with `Upgrade`, such as one with a body, are ordinary requests.
 */
export function isUpgrade({ raw }: Context): boolean {
  return heads.has(raw.req);
}

/**
 * Records 101 as the response. Once all middleware has run, `takeOver` gets the connection, unless an
 * error has replaced the response.
 */
export function switchProtocols(context: Context, takeOver: TakeOver): void {
  const ctx = recordOf(context);
  ctx.send('');
  if (ctx.isWritten) return; // a time-out has responded
  ctx.assignedStatus = 101;
  ctx.respondedBy = 'an upgrade';
  ctx.upgrade = () => upgrade(ctx, takeOver);
}

/** For listeners of `onSent`: the connection after a 101 response. */
export function upgradedConnection({ raw }: Context): UpgradedConnection | undefined {
  return upgradeOf(raw.req.socket);
}

/** @throws {ServiceUnavailableError} if the server is about to close */
function upgrade(ctx: RequestContext, takeOver: TakeOver): void {
  const { req, res } = ctx.raw;
  const { socket } = req;
  const server = connectionsOfSocket(socket);
  const head = heads.get(req);
  if (!server || !head) throw new Error('Cannot upgrade this request');
  if (server.closing.aborted) {
    const headers = { 'Retry-After': '1' };
    throw new ServiceUnavailableError('The server is about to close', { headers });
  }
  if (!socket.readable || !socket.writable) {
    res.destroy(); // the client has disconnected
    return;
  }
  ctx.upgrade = undefined; // the context is kept as long as the connection
  const connection = takeOver({ socket, head, headers: linesOf(ctx.responseHeaders) });
  heads.delete(req);
  res.statusCode = 101;
  res.detachSocket(socket);
  rememberUpgrade(socket, connection);
}

/** Headers of a body, and those that the upgrade sets itself. */
const OMITTED = /^(?:content-.*|connection|upgrade|keep-alive|date|sec-websocket-.*)$/i;

function linesOf(headers: ResponseHeaders): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = String(headers[at]);
    if (OMITTED.test(name)) continue;
    for (const value of [headers[at + 1] ?? []].flat()) lines.push(`${name}: ${value}`);
  }
  return lines;
}
