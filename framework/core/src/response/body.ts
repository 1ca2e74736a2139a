import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';

/** The bodies that `ctx.send` accepts. `null` and the empty string are an empty body. */
export type Body = string | Uint8Array | Readable | ReadableStream | Blob | null;

/** A body in the form in which it is written. */
export type Content = string | Uint8Array | Readable;

/**
 * Converts web streams and Blobs to Node streams.
 *
 * @throws {TypeError} with the type, if `body` cannot be sent
 */
export function contentOf(body: unknown): Content {
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  if (body === null) return '';
  if (isReadable(body)) return body;
  if (body instanceof Blob) return fromWeb(body.stream());
  if (body instanceof ReadableStream) return fromWeb(body);
  throw new TypeError(
    `Cannot send a body of type ${typeNameOf(body)}: expected a string, a Uint8Array, a Blob, a stream or null`,
  );
}

/** Closes a body that is not sent. */
export function discard(body: unknown): void {
  if (isReadable(body)) body.on('error', () => {}).destroy();
  else if (body instanceof ReadableStream) body.cancel().catch(() => {}); // may be locked
}

/** The DOM library's type of a web stream differs from Node's; the objects are the same. */
function fromWeb(stream: ReadableStream): Readable {
  return Readable.fromWeb(stream as NodeReadableStream);
}

/** Whether `value` is sent unchanged, not as JSON. */
export function isBinary(value: unknown): value is Uint8Array | Readable | ReadableStream | Blob {
  return (
    value instanceof Uint8Array ||
    isReadable(value) ||
    value instanceof Blob ||
    value instanceof ReadableStream
  );
}

/** Whether `content` is sent chunk by chunk. */
export function isStream(content: Content): content is Readable {
  return typeof content === 'object' && !(content instanceof Uint8Array);
}

/** Whether `value` is a Node stream; the classes of the package readable-stream differ from Node's. */
function isReadable(value: unknown): value is Readable {
  if (value instanceof Readable) return true;
  const { pipe, read, on, destroy } = Object(value) as Partial<Readable>;
  return [pipe, read, on, destroy].every((method) => typeof method === 'function');
}

/** @throws {TypeError} if `value`, which a handler returned, is an error or a list of numbers like Uint16Array */
export function requireSendable(value: unknown): void {
  if (value instanceof Error) {
    throw new TypeError('Cannot send a returned error: throw it instead', { cause: value });
  }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView) && !('toJSON' in value)) {
    throw new TypeError(
      `Cannot send a returned ${typeNameOf(value)}: use [...array], or Buffer.from(array.buffer, array.byteOffset, array.byteLength) for its bytes`,
    );
  }
}

function typeNameOf(value: unknown): string {
  if (typeof value !== 'object') return typeof value;
  return value?.constructor?.name || 'object';
}
