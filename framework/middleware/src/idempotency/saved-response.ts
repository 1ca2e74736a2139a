import type { Context } from '@fw/core';
import { isStream, recordedBody, recordedLength, responseHeader } from '@fw/core/extension';

/**
 * The headers that are stored: those that describe the result. Others, such as `Set-Cookie` or
 * `RateLimit`, belong to one exchange.
 */
const STORED_HEADERS = [
  'Content-Type',
  'Content-Encoding',
  'Content-Language',
  'Content-Location',
  'Content-Disposition',
  'ETag',
  'Last-Modified',
  'Link',
  'Location',
];

type Header = readonly [name: string, value: string];
type Encoding = 'utf8' | 'base64';

/** Returns the response of `ctx` as text; `undefined` if it is a stream or its body exceeds `maxBytes`. */
export function serializeResponse(ctx: Context, maxBytes: number): string | undefined {
  const body = recordedBody(ctx);
  if (body === undefined && ctx.responded) return undefined; // sent with Node's own methods
  if (body !== undefined && (isStream(body) || recordedLength(ctx) > maxBytes)) return undefined;
  const status = body === undefined && ctx.status === 200 ? 204 : ctx.status;
  const headers = STORED_HEADERS.flatMap((name): Header[] => {
    const value = responseHeader(ctx, name);
    return value === undefined ? [] : [[name, value]];
  });
  const encoding: Encoding = typeof body === 'object' ? 'base64' : 'utf8';
  const text = typeof body === 'object' ? Buffer.from(body).toString('base64') : (body ?? '');
  return JSON.stringify([status, headers, encoding, text]);
}

/** Sends the response that `serializeResponse` returned. */
export function replayResponse(ctx: Context, response: string): void {
  const [status, headers, encoding, text] = JSON.parse(response) as [
    number,
    readonly Header[],
    Encoding,
    string,
  ];
  ctx.status = status;
  for (const [name, value] of headers) ctx.set(name, value);
  ctx.send(encoding === 'base64' ? Buffer.from(text, 'base64') : text);
}
