import type { CallContext } from './attempt.ts';
import type { CallOptions, ClientSettings, HeaderFields } from './client-options.ts';

/** The options of a call at run time; `Client` types them by operation. */
export interface UntypedCallOptions extends CallOptions {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: HeaderFields;
  readonly body?: unknown;
}

/** A request that can be sent several times. */
export interface PreparedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: RequestInit['body'];
  readonly requestId: string;
}

/** The request of a call, with the same id and idempotency key on each attempt. */
export function prepareRequest(
  { method, path }: { readonly method: string; readonly path: string },
  options: UntypedCallOptions,
  settings: ClientSettings,
): PreparedRequest {
  const { ctx, ifMatch, body } = options;
  const headers = new Headers(settings.headers);
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
  const requestId = headers.get('X-Request-Id') ?? ctx?.requestId ?? randomId();
  const addDefault = (name: string, value: string | undefined) => {
    if (value !== undefined && !headers.has(name)) headers.set(name, value);
  };
  addDefault('Accept', 'application/json');
  addDefault('X-Request-Id', requestId);
  for (const [name, value] of traceOf(ctx)) addDefault(name, value);
  addDefault('If-Match', ifMatch);
  if (method === 'POST' && settings.idempotencyKeys) addDefault('Idempotency-Key', randomId());
  const isJson = body !== undefined && !isSentUnchanged(body);
  if (isJson) addDefault('Content-Type', 'application/json');
  const url = new URL(settings.baseUrl + fillPath(path, options.path));
  addQuery(url, options.query);
  const content = (isJson ? JSON.stringify(body) : body) as RequestInit['body'];
  return { method, url, headers, body: content, requestId };
}

/** 32 random hexadecimal digits. Unlike `crypto.randomUUID`, works on pages without TLS too. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @throws {TypeError} if a value is missing, or would change the other segments of the path */
function fillPath(template: string, values: Readonly<Record<string, unknown>> = {}): string {
  return template.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const text = String(values[name] ?? '');
    if (/^\.{0,2}$/.test(text)) {
      throw new TypeError(
        `Cannot call ${template} with ${name} "${text}": expected text other than "", "." and ".."`,
      );
    }
    return encodeURIComponent(text);
  });
}

/** Lists become repeated names, as OpenAPI's default style `form` writes them. */
function addQuery({ searchParams }: URL, query: Readonly<Record<string, unknown>> = {}): void {
  for (const [name, value] of Object.entries(query)) {
    for (const item of [value].flat()) {
      if (item !== undefined) searchParams.append(name, String(item));
    }
  }
}

/** A valid `traceparent` (W3C Trace Context §3.2.2). */
const TRACEPARENT =
  /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?$/;

/** The trace headers of the request that a call belongs to; none if they are invalid. */
function traceOf(ctx: CallContext | undefined): [string, string | undefined][] {
  const traceparent = ctx?.get?.('traceparent');
  if (traceparent === undefined || !TRACEPARENT.test(traceparent)) return [];
  return [
    ['traceparent', traceparent],
    ['tracestate', ctx?.get?.('tracestate')],
  ];
}

/** Whether fetch encodes the body: a file, a form or binary data. */
function isSentUnchanged(body: unknown): boolean {
  return (
    [Blob, FormData, URLSearchParams, ReadableStream, ArrayBuffer].some(
      (type) => body instanceof type,
    ) || ArrayBuffer.isView(body)
  );
}
