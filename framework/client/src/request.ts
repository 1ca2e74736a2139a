import type { CallContext } from './attempt.ts';
import type { CallOptions, ClientSettings } from './client-options.ts';

/** Parameters by name. */
type Values = Readonly<Record<string, unknown>>;

/** The options of a call at run time; `Client` types them by operation. */
export interface UntypedCallOptions extends CallOptions {
  readonly path?: Values;
  readonly query?: Values;
  readonly headers?: Values;
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

/**
 * The request of a call, with the same id and idempotency key on each attempt.
 *
 * @throws {TypeError} if a parameter cannot be sent
 */
export function prepareRequest(
  { method, path }: { readonly method: string; readonly path: string },
  options: UntypedCallOptions,
  settings: ClientSettings,
): PreparedRequest {
  const { ctx, ifMatch, body } = options;
  const headers = new Headers();
  for (const fields of [settings.headers, options.headers]) {
    for (const [name, texts] of textsOf(path, fields)) {
      try {
        headers.set(name, texts.join());
      } catch {
        // The error of the platform contains the value, which may be a secret.
        throw new TypeError(`Cannot send ${name} of ${path}: expected the text of a header`);
      }
    }
  }
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
  for (const [name, texts] of textsOf(path, options.query)) {
    for (const text of texts) url.searchParams.append(name, text);
  }
  const content = (isJson ? JSON.stringify(body) : body) as RequestInit['body'];
  return { method, url, headers, body: content, requestId };
}

/** 32 random hexadecimal digits. Unlike `crypto.randomUUID`, works on pages without TLS too. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * The parameters that have a value, each with its text, or one for each item of a list.
 *
 * @throws {TypeError} if a value has no text
 */
function textsOf(path: string, values: Values = {}): [string, string[]][] {
  return Object.entries(values).flatMap(([name, value]) => {
    const items = [value].flat().filter((item) => item !== undefined && item !== null);
    const texts = items.map((item) => textOf(item, `${name} of ${path}`));
    return texts.length > 0 ? [[name, texts]] : [];
  });
}

/** The text of a value; of an object, what JSON would contain, such as the time of a Date. */
function textOf(value: unknown, parameter: string): string {
  const plain = Object(value).toJSON?.() ?? value;
  const type = typeof plain;
  if (type === 'string' && plain.isWellFormed()) return plain;
  if (type === 'boolean' || type === 'bigint' || Number.isFinite(plain)) return String(plain);
  const sent = type === 'object' ? 'an object' : String(plain);
  throw new TypeError(
    `Cannot send ${sent} as ${parameter}: expected text, a finite number, a boolean, a date or a list`,
  );
}

/** @throws {TypeError} if a value is missing, or would change the other segments of the path */
function fillPath(template: string, values?: Values): string {
  const texts = new Map(textsOf(template, values));
  return template.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const text = (texts.get(name) ?? []).map(encodeURIComponent).join();
    if (/^\.{0,2}$/.test(text)) {
      throw new TypeError(
        `Cannot call ${template} with ${name} "${text}": expected text other than "", "." and ".."`,
      );
    }
    return text;
  });
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
