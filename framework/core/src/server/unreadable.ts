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
  /** Where the error is in `rawPacket`. */
  readonly bytesParsed?: number;
}

/** An unknown method in a valid request line is 501; other invalid data is not HTTP. */
function statusOf(error: ParserError): number {
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
  } else if (current ? current.headersSent : hasIncompleteRequest(socket)) {
    socket.destroy(); // a second response would corrupt the first one, or be the first of the next request
  } else if (socket.writable) {
    closeWithProblem(socket, status);
  } else {
    socket.destroy();
  }
}

/** Whether the body of the last request is incomplete; its error is not that of another request. */
function hasIncompleteRequest(socket: Duplex): boolean {
  const { parser } = socket as { parser?: { incoming?: IncomingMessage | null } | null };
  return parser?.incoming?.complete === false;
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
