import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import type { RequestContext } from '../request-context.ts';
import { ServiceUnavailableError } from '../response/http-error.ts';
import type { ResponseHeaders } from '../response/response-headers.ts';
import { connectionsOfSocket, type UpgradedConnection } from './registry.ts';

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

/** The data that followed a request which can still be upgraded. */
const heads = new WeakMap<IncomingMessage, Buffer>();

/** The connection of `req` can be taken over; `head` is the data that followed the request. */
export function makeUpgradable(req: IncomingMessage, head: Buffer): void {
  heads.set(req, head);
}

/** Whether `switchProtocols` can upgrade the request. */
export function isUpgrade({ raw }: Pick<RequestContext, 'raw'>): boolean {
  return heads.has(raw.req);
}

/**
 * Records a 101 response, as other methods of the context record theirs. Once all middleware has run,
 * `takeOver` gets the connection.
 */
export function recordUpgrade(ctx: RequestContext, takeOver: TakeOver): void {
  ctx.send('');
  if (ctx.finished) return; // a time-out has responded
  ctx.assignedStatus = 101;
  ctx.respondedBy = 'an upgrade';
  ctx.upgrade = () => upgrade(ctx, takeOver);
}

/** The connection of a request after its upgrade. */
export function upgradedConnection(ctx: RequestContext): UpgradedConnection | undefined {
  const { socket } = ctx.raw.req;
  return connectionsOfSocket(socket)?.upgraded.get(socket);
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
  const connection = takeOver({ socket, head, headers: linesOf(ctx.responseHeaders) });
  heads.delete(req);
  res.statusCode = 101;
  res.detachSocket(socket);
  server.upgraded.set(socket, connection);
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
