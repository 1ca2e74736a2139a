import type { IncomingMessage, ServerResponse } from 'node:http';

import { http } from '../http.ts';
import { loggerOfSocket } from '../server/close.ts';

/** Names and values in turn. */
export type Headers = readonly (string | readonly string[])[];

/** The private fields that Node's `writeHead` reads and sets. */
export interface HeadFields {
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
  /** The headers that were written as one string, until Node's methods know them. */
  written: Headers | undefined = undefined;
  writtenType = '';
  writtenLength = -1;

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

/** Passes headers that were written as one string to Node, so that its methods return them. */
function restoreHeaders(res: TrackedResponse): void {
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
