import type { IncomingMessage, ServerResponse } from 'node:http';

import { http } from '../http.ts';
import { loggerOfSocket } from '../server/connections.ts';
import { titleOf } from './problem.ts';
import { FRAMING_HEADER } from './response-headers.ts';

type Headers = readonly (string | readonly string[])[];

/*
 * Node builds the head of a response header by header. Writing it as one string saves a tenth of the
 * CPU time of a small request. Node has no public way to pass such a string, so this file sets the
 * private fields that `writeHead` sets. A test compares the bytes of both ways.
 */

/** What the context writes of a head; Node adds the rest. */
interface WrittenHead {
  /** Valid names and values in turn, without `Content-Length`. */
  readonly headers: Headers;
  /** The `Content-Type`; empty for none, or if `headers` contains it. */
  readonly type: string;
  /** `undefined` if it is empty or streamed. */
  readonly body?: string | Uint8Array;
}

/** A response whose body is completely known. */
interface CompleteResponse extends Required<WrittenHead> {
  readonly status: number;
}

/** The private fields that Node's `writeHead` reads and sets. */
interface HeadFields {
  _header: string | null;
  _last: boolean;
  readonly _keepAliveTimeout: number;
  readonly _expect_continue: boolean;
  readonly _sent100: boolean;
  readonly shouldKeepAlive: boolean;
}

/**
 * The response class of this package's servers. It knows whether code other than the context has set
 * headers, and returns the headers of a head that was written as one string. Calls after the response
 * was sent, for example by middleware for Express that is slower than `timeout()`, have no effect:
 * an error in a callback, which no caller catches, would end the process.
 */
export class TrackedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends http.ServerResponse<Request> {
  hasOwnHeaders = false;
  /** Whether the context has written the head of a streamed response. */
  isHeadFinal = false;
  hasLateCall = false;
  /** The head that was written as one string, until Node's methods know its headers. */
  written: WrittenHead | undefined = undefined;

  override setHeader(...header: Parameters<ServerResponse['setHeader']>): this {
    if (isHeadLate(this, 'setHeader')) return this;
    this.hasOwnHeaders = true;
    return super.setHeader(...header);
  }

  override setHeaders(...headers: Parameters<ServerResponse['setHeaders']>): this {
    return isHeadLate(this, 'setHeaders') ? this : super.setHeaders(...headers);
  }

  override appendHeader(...header: Parameters<ServerResponse['appendHeader']>): this {
    if (isHeadLate(this, 'appendHeader')) return this;
    this.hasOwnHeaders = true;
    return super.appendHeader(...header);
  }

  override removeHeader(name: string): void {
    if (isHeadLate(this, 'removeHeader')) return;
    this.hasOwnHeaders = true;
    super.removeHeader(name);
  }

  override writeHead(status: number, ...rest: readonly unknown[]): this {
    return isHeadLate(this, 'writeHead') ? this : super.writeHead(status, ...(rest as []));
  }

  override flushHeaders(): void {
    if (!isHeadLate(this, 'flushHeaders')) super.flushHeaders();
  }

  override write(chunk: unknown, ...rest: readonly unknown[]): boolean {
    if (this.writableEnded) ignoreLate(this, 'write');
    return super.write(chunk, ...(rest as []));
  }

  override end(...last: readonly unknown[]): this {
    if (this.writableEnded && last[0] && typeof last[0] !== 'function') ignoreLate(this, 'end');
    return super.end(...(last as []));
  }

  // Middleware that logs or signs responses reads the headers after they were written.

  override getHeader(name: string): ReturnType<ServerResponse['getHeader']> {
    restoreHeaders(this);
    return super.getHeader(name);
  }

  override getHeaders(): ReturnType<ServerResponse['getHeaders']> {
    restoreHeaders(this);
    return super.getHeaders();
  }

  override getHeaderNames(): string[] {
    restoreHeaders(this);
    return super.getHeaderNames();
  }

  override hasHeader(name: string): boolean {
    restoreHeaders(this);
    return super.hasHeader(name);
  }

  // HTTP/1.0 has no interim responses, and none follow the response (RFC 9110 §15.2).

  override writeContinue(...args: Parameters<ServerResponse['writeContinue']>): void {
    if (supportsInterim(this)) super.writeContinue(...args);
  }

  override writeProcessing(...args: Parameters<ServerResponse['writeProcessing']>): void {
    if (supportsInterim(this)) super.writeProcessing(...args);
  }

  override writeEarlyHints(...args: Parameters<ServerResponse['writeEarlyHints']>): void {
    if (supportsInterim(this)) super.writeEarlyHints(...args);
  }
}

function supportsInterim({ req, headersSent }: ServerResponse): boolean {
  return req.httpVersionMinor > 0 && !headersSent;
}

/** Whether the head can no longer change, because the context has written it or the response has ended. */
function isHeadLate(res: TrackedResponse, method: string): boolean {
  if (!res.isHeadFinal && !res.writableEnded) return false;
  ignoreLate(res, method);
  return true;
}

/** Ignores the error of a late call, and logs the first one of a response. */
function ignoreLate(res: TrackedResponse, method: string): void {
  if (res.hasLateCall) return;
  res.hasLateCall = true;
  res.on('error', () => {});
  const { req } = res;
  const [path] = (req.url ?? '').split('?', 1);
  loggerOfSocket(req.socket)?.warn(
    `${req.method} ${path} called res.${method}() after its response was sent: this has no effect; check res.headersSent before`,
  );
}

/** Whether an event stream was begun, which has no end that its client could wait for. */
export function isEventStream(res: ServerResponse): boolean {
  const type = res.getHeader('content-type') ?? (res as unknown as HeadFields)._header; // of writeHead()
  return res.headersSent && /(?:^|\ncontent-type: *)text\/event-stream\b/i.test(String(type));
}

/** Passes the headers that were written as one string to Node, so that its methods return them. */
function restoreHeaders(res: TrackedResponse): void {
  const { written } = res;
  if (written === undefined) return;
  res.written = undefined;
  const fields = res as unknown as HeadFields;
  const head = fields._header;
  fields._header = null; // Node accepts no header after the head
  const { setHeader } = http.ServerResponse.prototype;
  const { headers, type, body } = written;
  for (let at = 0; at < headers.length; at += 2) {
    setHeader.call(res, headers[at] as string, headers[at + 1] as string | string[]);
  }
  if (type !== '') setHeader.call(res, 'Content-Type', type);
  if (body !== undefined) setHeader.call(res, 'Content-Length', String(byteLengthOf(body)));
  fields._header = head;
}

/**
 * Removes the headers that were set with Node's methods, and returns their names and values: afterwards,
 * only the context determines the head.
 */
export function takeNodeHeaders(
  res: ServerResponse,
): readonly (readonly [string, number | string | string[]])[] {
  const taken = res.getHeaderNames().map((name) => [name, res.getHeader(name) ?? ''] as const);
  for (const [name] of taken) res.removeHeader(name);
  if (res instanceof TrackedResponse) res.hasOwnHeaders = false;
  return taken.filter(([name]) => !FRAMING_HEADER.test(name));
}

/** Sends `response` with its `Content-Length`. */
export function sendComplete(res: ServerResponse, response: CompleteResponse): void {
  const { status, headers, type, body } = response;
  const length = byteLengthOf(body);
  let isAscii = false;
  if (isPlain(res) && !hasConnectionHeader(headers)) {
    const head = writeHeadText(res, response, length);
    isAscii = length === body.length && Buffer.byteLength(head) === head.length;
  } else {
    setHead(res, status, headers);
    if (type !== '') res.setHeader('Content-Type', type);
    res.setHeader('Content-Length', String(length));
  }
  // ASCII is the same bytes in Latin-1, which Node writes faster.
  res.end(body, isAscii ? 'latin1' : 'utf8');
}

function byteLengthOf(body: string | Uint8Array): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

/** Writes the head of a response that has no body or a streamed one. */
export function writeHead(res: ServerResponse, status: number, headers: Headers): void {
  if (isPlain(res)) {
    res.written = { headers, type: '' };
    res.writeHead(status, titleOf(status), headers as string[]);
  } else {
    setHead(res, status, headers);
    res.writeHead(status);
  }
  if (res instanceof TrackedResponse) res.isHeadFinal = true;
}

const { writeHead: ownWriteHead, write: ownWrite, end: ownEnd } = TrackedResponse.prototype;

/** The `node:http` of Bun writes the head without these fields. */
const isBun = process.versions.bun !== undefined;

/**
 * Whether only the context determines the head. Middleware written for Express sets headers
 * directly or replaces methods of the response.
 */
function isPlain(res: ServerResponse): res is TrackedResponse {
  return (
    !isBun &&
    res instanceof TrackedResponse &&
    !res.hasOwnHeaders &&
    res.sendDate &&
    res.statusMessage === undefined &&
    res.writeHead === ownWriteHead &&
    res.write === ownWrite &&
    res.end === ownEnd
  );
}

/** Headers to which several middleware add values. */
const SHARED_HEADER = /^(?:set-cookie|vary)$/i;

/** Sets status and headers with Node's public methods, which other middleware may have replaced. */
function setHead(res: ServerResponse, status: number, headers: Headers): void {
  res.statusCode = status;
  res.statusMessage ||= titleOf(status);
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string | string[];
    if (SHARED_HEADER.test(name)) res.appendHeader(name, value);
    else res.setHeader(name, value);
  }
}

/** Headers with which Node decides whether the connection stays open: then Node writes the head. */
const CONNECTION_HEADER = /^(?:connection|date|keep-alive|trailer|transfer-encoding|upgrade)$/i;
const CONNECTION_HEADER_LENGTHS = new Set([4, 7, 10, 17]);

function hasConnectionHeader(headers: Headers): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    if (CONNECTION_HEADER_LENGTHS.has(name.length) && CONNECTION_HEADER.test(name)) return true;
  }
  return false;
}

/** Returns the head. */
function writeHeadText(res: TrackedResponse, response: CompleteResponse, length: number): string {
  const { status, headers, type } = response;
  const fields = res as unknown as HeadFields;
  res.statusCode = status;
  let head = statusLine(status);
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1] as string | readonly string[];
    if (typeof value === 'string') head += `${headers[at]}: ${value}\r\n`;
    else for (const each of value) head += `${headers[at]}: ${each}\r\n`;
  }
  if (type !== '') head += `Content-Type: ${type}\r\n`;
  // A client that got no 100 Continue may still send its body: the connection cannot be reused.
  const isKept = fields.shouldKeepAlive && !(fields._expect_continue && !fields._sent100);
  if (!isKept) fields._last = true;
  res.written = response;
  fields._header = `${head}Content-Length: ${length}\r\n${
    isKept
      ? keepAliveEnd(fields._keepAliveTimeout)
      : `Date: ${dateText()}\r\nConnection: close\r\n\r\n`
  }`;
  return fields._header;
}

const statusLines: string[] = [];

function statusLine(status: number): string {
  statusLines[status] ??= `HTTP/1.1 ${status} ${titleOf(status)}\r\n`;
  return statusLines[status];
}

let cachedDate = '';
let cachedEnd = '';
let cachedTimeoutMs = -1;

/** The end of the head of a connection that stays open; rebuilt every second. */
function keepAliveEnd(timeoutMs: number): string {
  const date = dateText();
  if (cachedEnd === '' || cachedTimeoutMs !== timeoutMs) {
    const timeout = timeoutMs > 0 ? `Keep-Alive: timeout=${Math.floor(timeoutMs / 1000)}\r\n` : '';
    cachedEnd = `Date: ${date}\r\nConnection: keep-alive\r\n${timeout}\r\n`;
    cachedTimeoutMs = timeoutMs;
  }
  return cachedEnd;
}

function dateText(): string {
  if (cachedDate === '') {
    const now = new Date();
    cachedDate = now.toUTCString();
    setTimeout(clearDate, 1000 - now.getMilliseconds()).unref();
  }
  return cachedDate;
}

function clearDate(): void {
  cachedDate = '';
  cachedEnd = '';
}
