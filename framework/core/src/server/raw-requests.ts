import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import { hasIncompleteRequest } from '../node/incoming-request.ts';
import { currentResponse } from '../node/tracked-response.ts';
import { createRequestId } from '../request/request-id.ts';
import { PROBLEM_TYPE, problemOfStatus } from '../response/problem.ts';
import { titleOf } from '../response/status.ts';

/*
 * Requests for which Node creates no response: data that its parser cannot read, and CONNECT. Their
 * response is written directly to the socket; no middleware runs.
 */

const STATUSES: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/** The error of the HTTP parser. */
interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  /** Where the error is in `rawPacket`. */
  readonly bytesParsed?: number;
}

/** An unknown method in a valid request line is 501; other invalid data is not HTTP. */
function statusOfParser(error: ParserError): number {
  const { code = '' } = error;
  if (code === 'HPE_INVALID_METHOD') return isRequestLine(lineOf(error)) ? 501 : 400;
  return STATUSES[code] ?? 400;
}

function isRequestLine(line: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]/.test(line);
}

/** The start of the line that contains the error: pipelined requests may precede it. */
function lineOf({ rawPacket, bytesParsed = 0 }: ParserError): string {
  if (!rawPacket) return '';
  const start = rawPacket.subarray(0, bytesParsed).lastIndexOf('\n') + 1;
  return rawPacket.toString('latin1', start, start + 256);
}

/** How long the client may read the response before the connection is destroyed. */
const LINGER_MS = 1_000;

/** Connections that get no other response: the parser reports an error for every further chunk of data. */
const rejected = new WeakSet<Duplex>();

/** Responds to data that the parser could not read as a request, and closes the connection. */
export function rejectUnreadable(error: ParserError, socket: Duplex): void {
  if (rejected.has(socket)) return;
  rejected.add(socket);
  if (error.code === 'ECONNRESET') socket.destroy();
  else inTurn(socket, () => rejectNow(socket, statusOfParser(error)));
}

function rejectNow(socket: Duplex, status: number): void {
  if (currentResponse(socket)?.headersSent ?? hasIncompleteRequest(socket)) {
    socket.destroy(); // a second response would corrupt the first one, or be the first of the next request
  } else {
    closeWithProblem(socket, status);
  }
}

/**
 * Rejects CONNECT, which is for proxies (RFC 9110 §9.3.6). `tunnel` is the connection, or, if the request
 * has a body, the data after that body.
 */
export function rejectConnect({ socket }: IncomingMessage, tunnel: Duplex): void {
  rejected.add(socket);
  tunnel.on('error', () => {}).resume(); // discards its data
  // Node no longer passes this event on to the response that is sent.
  socket.on('drain', () => currentResponse(socket)?.emit('drain'));
  inTurn(socket, () => closeWithProblem(socket, 501));
}

/** Calls `respond` once the responses to all earlier requests are sent (RFC 9112 §9.3.2). */
function inTurn(socket: Duplex, respond: () => void): void {
  const current = currentResponse(socket);
  if (current?.req.complete) current.once('close', () => inTurn(socket, respond));
  else respond();
}

/** A problem that is the last response on its connection, for a request without a context. */
export function createRejection(status: number) {
  const requestId = createRequestId();
  const body = JSON.stringify(problemOfStatus(status, requestId));
  const headers = {
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    Date: new Date().toUTCString(), // RFC 9110 §6.6.1
    Connection: 'close',
  };
  return { headers, body };
}

/** Writes a problem directly to the socket. */
export function closeWithProblem(socket: Duplex, status: number): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { headers, body } = createRejection(status);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${titleOf(status)}\r\n${lines.join('')}\r\n${body}`);
  destroyAfterLinger(socket);
}

/** Destroys a connection that its client has not closed after `LINGER_MS`. */
export function destroyAfterLinger(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer)); // it would keep the request in memory
}
