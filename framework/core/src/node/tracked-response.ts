import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { Logger } from '../logger.ts';
import { http, usesPrivateFields } from './http.ts';
import { forgetRequest, IncomingRequest } from './incoming-request.ts';

/** What the context writes of a head; Node adds the rest. */
export interface WrittenHead {
  /** Valid names and values in turn, without `Content-Length`. */
  readonly headers: readonly (string | readonly string[])[];
  /** The `Content-Type`; empty for none, or if `headers` contains it. */
  readonly type: string;
  /** `undefined` if it is empty or streamed. */
  readonly body?: string | Uint8Array;
}

/** The private fields of a response that Node's `writeHead` reads and sets. */
interface HeadFields {
  /** The head, as it is sent before the first chunk of the body. */
  _header: string | null;
  /** Whether the connection is closed after the response. */
  _last: boolean;
  readonly _keepAliveTimeout: number;
  readonly _expect_continue: boolean;
  readonly _sent100: boolean;
}

function headFields(res: ServerResponse): HeadFields {
  return res as unknown as HeadFields;
}

/** The property of a connection that has its current response: cheaper than a `WeakMap` for each request. */
const CURRENT = Symbol('currentResponse');

interface Connection {
  [CURRENT]?: TrackedResponse | undefined;
}

/** The response that is currently sent on this connection. */
export function currentResponse(socket: Duplex): ServerResponse | undefined {
  return (socket as Connection)[CURRENT];
}

/**
 * The response class of this package's servers. It knows whether code other than the context has set
 * headers, and `getHeader()` works after the head was written as one string. Calls after the response
 * was sent, for example by middleware for Express that is slower than `timeout()`, have no effect:
 * an error in a callback, which no caller catches, would end the process.
 */
export class TrackedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends http.ServerResponse<Request> {
  hasOwnHeaders = false;
  /** Whether the context has written the head of a response that is streamed or empty. */
  isHeadFinal = false;
  hasLateCall = false;
  /** Logs the first late call; that of the application. */
  log: Logger | undefined = undefined;
  /** The head that was written as one string, until Node's methods know its headers. */
  written: WrittenHead | undefined = undefined;

  /** The type among the headers of `writeHead()`, which `getHeader()` does not return. */
  #writtenType: string | undefined = undefined;

  /** Whether an event stream was begun, which has no end that its client could wait for. */
  get isEventStream(): boolean {
    const type = this.getHeader('content-type') ?? this.#writtenType;
    return this.headersSent && /^text\/event-stream\b/i.test(String(type));
  }

  /** Whether the connection stays open after this response. */
  get keepsConnection(): boolean {
    const { _expect_continue, _sent100 } = headFields(this);
    // A client that got no 100 Continue may still send its body: the connection cannot be reused.
    return this.shouldKeepAlive && !(_expect_continue && !_sent100);
  }

  /** The time-out of the connection that Node announces in the header `Keep-Alive`. */
  get keepAliveTimeoutMs(): number {
    return headFields(this)._keepAliveTimeout;
  }

  /**
   * Sets the head, which Node sends with the first chunk of the body. `written` are its headers: Node's
   * methods return them.
   */
  setHeadText(head: string, written: WrittenHead): void {
    const fields = headFields(this);
    if (!this.keepsConnection) fields._last = true;
    this.written = written;
    fields._header = head;
  }

  override assignSocket(socket: Socket): void {
    (socket as Connection)[CURRENT] = this;
    super.assignSocket(socket);
  }

  override detachSocket(socket: Socket): void {
    (socket as Connection)[CURRENT] = undefined;
    forgetRequest(this.req);
    super.detachSocket(socket);
  }

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
    if (isHeadLate(this, 'writeHead')) return this;
    this.#writtenType = typeIn(rest.at(-1));
    return super.writeHead(status, ...(rest as []));
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
  res.log?.warn(
    `${req.method} ${path} called res.${method}() after its response was sent: this has no effect; check res.headersSent before`,
  );
}

/** Passes the headers that were written as one string to Node, so that its methods return them. */
function restoreHeaders(res: TrackedResponse): void {
  const { written } = res;
  if (written === undefined) return;
  res.written = undefined;
  const fields = headFields(res);
  const head = fields._header;
  fields._header = null; // Node accepts no header after the head
  const { setHeader } = http.ServerResponse.prototype;
  const { headers, type, body } = written;
  for (let at = 0; at < headers.length; at += 2) {
    setHeader.call(res, headers[at] as string, headers[at + 1] as string | string[]);
  }
  if (type !== '') setHeader.call(res, 'Content-Type', type);
  if (body !== undefined) setHeader.call(res, 'Content-Length', String(Buffer.byteLength(body)));
  fields._header = head;
}

/** The `Content-Type` in the headers of `writeHead()`: an object, or a list of names and values. */
function typeIn(headers: unknown): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const fields: unknown[] = Array.isArray(headers)
    ? headers.flat()
    : Object.entries(headers).flat();
  const at = fields.findIndex((name, i) => i % 2 === 0 && /^content-type$/i.test(String(name)));
  return at < 0 ? undefined : String(fields[at + 1]);
}

/** Whether a head can be written as one string: the private fields exist, and Node sends `_header` before the body. */
export const canSetHeadText = usesPrivateFields && testHeadText();

function testHeadText(): boolean {
  try {
    const res = new TrackedResponse(new IncomingRequest(new Socket()));
    const fields = headFields(res);
    const { _last, _keepAliveTimeout, _expect_continue, _sent100 } = fields;
    fields._header = 'head';
    res.end(' body', 'latin1');
    const { outputData } = res as unknown as { readonly outputData: readonly { data: unknown }[] };
    return (
      outputData[0]?.data === 'head body' &&
      typeof _keepAliveTimeout === 'number' &&
      [_last, _expect_continue, _sent100].every((field) => field === false)
    );
  } catch {
    return false;
  }
}
