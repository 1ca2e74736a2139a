import type { IncomingMessage, ServerResponse } from 'node:http';

import { http } from '../http.ts';

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
 * headers, and returns the headers of a head that was written as one string.
 */
export class TrackedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends http.ServerResponse<Request> {
  hasOwnHeaders = false;
  /** The headers that were written as one string, until Node's methods know them. */
  written: Headers | undefined = undefined;
  writtenType = '';
  writtenLength = -1;

  override setHeader(...header: Parameters<ServerResponse['setHeader']>): this {
    this.hasOwnHeaders = true;
    return super.setHeader(...header);
  }

  override appendHeader(...header: Parameters<ServerResponse['appendHeader']>): this {
    this.hasOwnHeaders = true;
    return super.appendHeader(...header);
  }

  override removeHeader(name: string): void {
    this.hasOwnHeaders = true;
    super.removeHeader(name);
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

  // HTTP/1.0 has no interim responses (RFC 9110 §15.2).

  override writeContinue(...args: Parameters<ServerResponse['writeContinue']>): void {
    if (supportsInterim(this.req)) super.writeContinue(...args);
  }

  override writeProcessing(...args: Parameters<ServerResponse['writeProcessing']>): void {
    if (supportsInterim(this.req)) super.writeProcessing(...args);
  }

  override writeEarlyHints(...args: Parameters<ServerResponse['writeEarlyHints']>): void {
    if (supportsInterim(this.req)) super.writeEarlyHints(...args);
  }
}

function supportsInterim(req: IncomingMessage): boolean {
  return req.httpVersionMinor > 0;
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
