import type { IncomingMessage, ServerResponse } from 'node:http';

import { http } from '../http.ts';
import { titleOf } from './problem.ts';

/*
 * Node makes a response's head header by header. Where the whole answer is known, as it nearly always
 * is, a head written as one text saves a tenth of a request's CPU time. Node has no public way to
 * hand one over: this file, and no other, sets the fields that `writeHead` would have set. A test
 * compares the octets that both ways send.
 */

/** The fields of Node's response that its own `writeHead` reads and sets. */
interface HeadFields {
  _header: string | null;
  _last: boolean;
  readonly _keepAliveTimeout: number;
  readonly _expect_continue: boolean;
  readonly _sent100: boolean;
  readonly shouldKeepAlive: boolean;
}

/** The response of this package's servers: it knows whether headers were set past the context. */
export class Response<
  Request extends IncomingMessage = IncomingMessage,
> extends http.ServerResponse<Request> {
  isTouched = false;
  /** The headers of a head that was written at once, until they are read: names and values in turn. */
  written: Headers | undefined = undefined;
  writtenType = '';
  writtenLength = -1;

  override setHeader(...header: Parameters<ServerResponse['setHeader']>): this {
    this.isTouched = true;
    return super.setHeader(...header);
  }

  override appendHeader(...header: Parameters<ServerResponse['appendHeader']>): this {
    this.isTouched = true;
    return super.appendHeader(...header);
  }

  override removeHeader(name: string): void {
    this.isTouched = true;
    super.removeHeader(name);
  }

  // Middleware that logs or signs responses reads their headers after they were written.

  override getHeader(name: string): ReturnType<ServerResponse['getHeader']> {
    recall(this);
    return super.getHeader(name);
  }

  override getHeaders(): ReturnType<ServerResponse['getHeaders']> {
    recall(this);
    return super.getHeaders();
  }

  override getHeaderNames(): string[] {
    recall(this);
    return super.getHeaderNames();
  }

  override hasHeader(name: string): boolean {
    recall(this);
    return super.hasHeader(name);
  }

  // An HTTP/1.0 client does not know interim responses (RFC 9110 §15.2).

  override writeContinue(...args: Parameters<ServerResponse['writeContinue']>): void {
    if (knowsInterim(this.req)) super.writeContinue(...args);
  }

  override writeProcessing(...args: Parameters<ServerResponse['writeProcessing']>): void {
    if (knowsInterim(this.req)) super.writeProcessing(...args);
  }

  override writeEarlyHints(...args: Parameters<ServerResponse['writeEarlyHints']>): void {
    if (knowsInterim(this.req)) super.writeEarlyHints(...args);
  }
}

function knowsInterim(req: IncomingMessage): boolean {
  return req.httpVersionMinor > 0;
}

/** Gives the headers of a head that was written at once to Node, for its methods that read them. */
function recall(res: Response): void {
  const { written, writtenType, writtenLength } = res;
  if (written === undefined) return;
  res.written = undefined;
  const fields = res as unknown as HeadFields;
  const head = fields._header;
  fields._header = null; // Node accepts no header after the head
  const { setHeader } = http.ServerResponse.prototype;
  for (let at = 0; at < written.length; at += 2) {
    setHeader.call(res, written[at] as string, written[at + 1] as string | string[]);
  }
  if (writtenType !== '') setHeader.call(res, 'Content-Type', writtenType);
  if (writtenLength >= 0) setHeader.call(res, 'Content-Length', String(writtenLength));
  fields._header = head;
}

/** Names and values in turn. */
type Headers = readonly (string | readonly string[])[];

/** An answer that is known from end to end. */
export interface WholeAnswer {
  readonly status: number;
  /** Valid names and values in turn, without `Content-Length`. */
  readonly headers: Headers;
  /** The `Content-Type`; empty for none, or for one among the headers. */
  readonly type: string;
  readonly body: string | Uint8Array;
}

/** Headers by which Node decides what becomes of the connection: then Node writes the head. */
const NODE_DECIDES = /^(?:connection|date|keep-alive|trailer|transfer-encoding|upgrade)$/i;
const DECIDING_LENGTHS = new Set([4, 7, 10, 17]);

/** Sends `answer`, with its length. */
export function sendWhole(res: ServerResponse, answer: WholeAnswer): void {
  const { status, headers, type, body } = answer;
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  if (isUntouched(res) && !hasConnectionHeader(headers)) {
    writeHeadText(res, answer, length);
  } else {
    setHead(res, status, headers);
    if (type !== '') res.setHeader('Content-Type', type);
    res.setHeader('Content-Length', String(length));
  }
  res.end(body);
}

/** Writes the head of a response that has no body, or whose body follows in pieces. */
export function writeHead(res: ServerResponse, status: number, headers: Headers): void {
  if (isUntouched(res)) {
    res.written = headers;
    res.writeHead(status, titleOf(status), headers as string[]);
  } else {
    setHead(res, status, headers);
    res.writeHead(status);
  }
}

const { writeHead: ownWriteHead, write: ownWrite, end: ownEnd } = Response.prototype;

/**
 * Whether only the context determines the head: middleware written for Express sets
 * headers of its own, or replaces methods of the response.
 */
function isUntouched(res: ServerResponse): res is Response {
  return (
    res instanceof Response &&
    !res.isTouched &&
    res.sendDate &&
    res.statusMessage === undefined &&
    res.writeHead === ownWriteHead &&
    res.write === ownWrite &&
    res.end === ownEnd
  );
}

/** Sets status and headers through Node's public methods, which other middleware may have replaced. */
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

/** Headers to which several parties add. */
const SHARED_HEADER = /^(?:set-cookie|vary)$/i;

function hasConnectionHeader(headers: WholeAnswer['headers']): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    if (DECIDING_LENGTHS.has(name.length) && NODE_DECIDES.test(name)) return true;
  }
  return false;
}

function writeHeadText(
  res: Response,
  { status, headers, type }: WholeAnswer,
  length: number,
): void {
  const fields = res as unknown as HeadFields;
  res.statusCode = status;
  let head = statusLine(status);
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1] as string | readonly string[];
    if (typeof value === 'string') head += `${headers[at]}: ${value}\r\n`;
    else for (const each of value) head += `${headers[at]}: ${each}\r\n`;
  }
  if (type !== '') head += `Content-Type: ${type}\r\n`;
  // A client that was not told to go on may still send its body: the connection cannot be used again.
  const isKept = fields.shouldKeepAlive && !(fields._expect_continue && !fields._sent100);
  if (!isKept) fields._last = true;
  res.written = headers;
  res.writtenType = type;
  res.writtenLength = length;
  fields._header = `${head}Content-Length: ${length}\r\n${
    isKept ? keptTail(fields._keepAliveTimeout) : `Date: ${dateText()}\r\nConnection: close\r\n\r\n`
  }`;
}

const statusLines: string[] = [];

function statusLine(status: number): string {
  statusLines[status] ??= `HTTP/1.1 ${status} ${titleOf(status)}\r\n`;
  return statusLines[status];
}

let cachedDate = '';
let cachedTail = '';
let cachedTimeoutMs = -1;

/** The end of the head where the connection stays open; made anew each second. */
function keptTail(timeoutMs: number): string {
  const date = dateText();
  if (cachedTail === '' || cachedTimeoutMs !== timeoutMs) {
    const timeout = timeoutMs > 0 ? `Keep-Alive: timeout=${Math.floor(timeoutMs / 1000)}\r\n` : '';
    cachedTail = `Date: ${date}\r\nConnection: keep-alive\r\n${timeout}\r\n`;
    cachedTimeoutMs = timeoutMs;
  }
  return cachedTail;
}

function dateText(): string {
  if (cachedDate === '') {
    const now = new Date();
    cachedDate = now.toUTCString();
    setTimeout(forgetDate, 1000 - now.getMilliseconds()).unref();
  }
  return cachedDate;
}

function forgetDate(): void {
  cachedDate = '';
  cachedTail = '';
}
