import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { makeRequestId } from '../request/request-id.ts';
import { problemOfStatus, titleOf } from '../response/problem.ts';

const STATUSES: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/** What the parser says of a request whose beginning it could not read. */
interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/** A request line with a method of its own is one; anything else with a bad beginning is not HTTP. */
function statusOf({ code = '', rawPacket }: ParserError): number {
  const start = rawPacket?.toString('latin1', 0, 256) ?? '';
  const isRequestLine = /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]/.test(start);
  if (code === 'HPE_INVALID_METHOD') return isRequestLine ? 501 : 400;
  return STATUSES[code] ?? 400;
}

/** How long a client that was refused may take to hang up, so that it can read why. */
const LINGER_MS = 1_000;

/** The parser reports a connection again with every piece that comes after the first bad one. */
const refused = new WeakSet<Duplex>();

/** Answers what the parser could not read as a request, and hangs up. */
export function answerUnreadable(error: ParserError, socket: Duplex): void {
  if (refused.has(socket)) return;
  refused.add(socket);
  if (error.code === 'ECONNRESET') socket.destroy();
  else answerInTurn(socket, statusOf(error));
}

/** Requests that came before are answered first (RFC 9112 §9.3.2). */
function answerInTurn(socket: Duplex, status: number): void {
  const current = answerUnderWay(socket);
  if (current?.req.complete) {
    current.once('close', () => answerInTurn(socket, status));
  } else if (current?.headersSent || !socket.writable) {
    socket.destroy(); // the octets of another answer would corrupt the one that has begun
  } else {
    hangUp(socket, status);
  }
}

/** The answer that has its turn on this connection, if there is one. */
export function answerUnderWay(socket: Duplex): ServerResponse<IncomingMessage> | undefined {
  return (
    (socket as { _httpMessage?: ServerResponse<IncomingMessage> | null })._httpMessage ?? undefined
  );
}

/** Writes a problem of this status past the HTTP server, as the last answer on the connection. */
export function hangUp(socket: Duplex, status: number): void {
  const requestId = makeRequestId();
  const body = JSON.stringify(problemOfStatus(status, requestId));
  socket.end(
    `HTTP/1.1 ${status} ${titleOf(status)}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\n` +
      `Cache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
