import type { ServerResponse } from 'node:http';

import { canSetHeadText, TrackedResponse, type WrittenHead } from '../node/tracked-response.ts';
import { titleOf } from './status.ts';

type Headers = readonly (string | readonly string[])[];

/** A response whose body is completely known. */
interface CompleteResponse extends Required<WrittenHead> {
  readonly status: number;
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

/**
 * Whether only the context determines the head. Middleware written for Express sets headers
 * directly or replaces methods of the response.
 */
function isPlain(res: ServerResponse): res is TrackedResponse {
  return (
    canSetHeadText &&
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
  res.statusCode = status;
  let head = statusLine(status);
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1] as string | readonly string[];
    if (typeof value === 'string') head += `${headers[at]}: ${value}\r\n`;
    else for (const each of value) head += `${headers[at]}: ${each}\r\n`;
  }
  if (type !== '') head += `Content-Type: ${type}\r\n`;
  head += `Content-Length: ${length}\r\n${
    res.keepsConnection
      ? keepAliveEnd(res.keepAliveTimeoutMs)
      : `Date: ${dateText()}\r\nConnection: close\r\n\r\n`
  }`;
  res.setHeadText(head, response);
  return head;
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
