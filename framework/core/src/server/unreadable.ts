import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { createRequestId } from '../request/request-id.ts';
import { PROBLEM_TYPE, problemOfStatus, titleOf } from '../response/problem.ts';

const STATUSES: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/** The error of the HTTP parser. */
interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/** An unknown method in a valid request line is 501; other invalid data is not HTTP. */
function statusOf({ code = '', rawPacket }: ParserError): number {
  const start = rawPacket?.toString('latin1', 0, 256) ?? '';
  const isRequestLine = /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]/.test(start);
  if (code === 'HPE_INVALID_METHOD') return isRequestLine ? 501 : 400;
  return STATUSES[code] ?? 400;
}

/** How long the client may read the response before the connection is destroyed. */
const LINGER_MS = 1_000;

/** The parser reports an error for every further chunk of data on the same connection. */
const rejected = new WeakSet<Duplex>();

/** Responds to data that the parser could not read as a request, and closes the connection. */
export function rejectUnreadable(error: ParserError, socket: Duplex): void {
  if (rejected.has(socket)) return;
  rejected.add(socket);
  if (error.code === 'ECONNRESET') socket.destroy();
  else rejectInTurn(socket, statusOf(error));
}

/** Waits for the responses to earlier requests (RFC 9112 §9.3.2). */
function rejectInTurn(socket: Duplex, status: number): void {
  const current = currentResponse(socket);
  if (current?.req.complete) {
    current.once('close', () => rejectInTurn(socket, status));
  } else if (current?.headersSent || !socket.writable) {
    socket.destroy(); // a second response would corrupt the first one
  } else {
    closeWithProblem(socket, status);
  }
}

/** The response that is currently sent on this connection. */
export function currentResponse(socket: Duplex): ServerResponse<IncomingMessage> | undefined {
  return (
    (socket as { _httpMessage?: ServerResponse<IncomingMessage> | null })._httpMessage ?? undefined
  );
}

/** Writes a problem directly to the socket, as the last response on the connection. */
export function closeWithProblem(socket: Duplex, status: number): void {
  const requestId = createRequestId();
  const body = JSON.stringify(problemOfStatus(status, requestId));
  socket.end(
    `HTTP/1.1 ${status} ${titleOf(status)}\r\nContent-Type: ${PROBLEM_TYPE}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\n` +
      `Cache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
