import type { IncomingMessage } from 'node:http';
import { duplexPair } from 'node:stream';

import type { Application } from '../application.ts';
import { http } from '../node/http.ts';
import { anObject, aString, badOption, check, readOptions } from '../options.ts';
import { createServer } from '../server/create-server.ts';

export interface RequestOptions {
  /** Default GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A form also sets `Content-Type`, unless `headers` does. */
  readonly body?: string | Uint8Array | FormData | URLSearchParams;
  /** Sent as the JSON body, with its `Content-Type`. */
  readonly json?: unknown;
}

/**
 * Sends one request to `app` in process. The request passes through the HTTP parser and all checks, only
 * without a port. `path` is sent unchanged.
 *
 * Resolves with the whole response; with a response of unknown length, such as an event stream, as soon
 * as its headers are sent. Its body is then read part by part, and `response.body.cancel()` disconnects.
 *
 * @throws {TypeError} if an option is unknown or its value is invalid
 */
export async function request(
  app: Application,
  path: string,
  options: RequestOptions = {},
): Promise<Response> {
  const { method = 'GET', headers = {}, ...rest } = readOptions('request()', options, OPTIONS);
  const { type, bytes } = await encode(rest);
  await app.ready();
  const [client, remote] = duplexPair();
  const disconnect = () => {
    client.destroy();
    remote.destroy();
  };
  const server = createServer(app);
  server.emit('connection', Object.assign(remote, { remoteAddress: '127.0.0.1' }));
  try {
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = http.request({
        createConnection: () => client,
        path,
        method,
        headers: {
          Host: 'localhost',
          ...(type && !hasType(headers) && { 'Content-Type': type }),
          ...headers,
        },
      });
      request.on('response', resolve).on('error', reject);
      request.end(bytes);
    });
    if (method !== 'HEAD' && message.headers['transfer-encoding'] !== undefined) {
      return toResponse(message, streamOf(message, disconnect));
    }
    const body = Buffer.concat(await message.toArray());
    disconnect();
    return toResponse(message, body);
  } catch (error) {
    disconnect();
    throw error;
  }
}

const aBody = check(
  'a string, a Uint8Array, a FormData or URLSearchParams; the option json sends other values',
  (value) =>
    typeof value === 'string' ||
    value instanceof Uint8Array ||
    value instanceof FormData ||
    value instanceof URLSearchParams,
);

const OPTIONS = {
  method: aString,
  headers: anObject,
  body: aBody,
  json: check('a value', () => true),
};

/** The bytes of the body, and the media type that describes them. */
async function encode({ body, json }: Pick<RequestOptions, 'body' | 'json'>): Promise<{
  readonly type?: string | null;
  readonly bytes?: string | Uint8Array;
}> {
  if (json !== undefined) {
    if (body === undefined) return { type: 'application/json', bytes: JSON.stringify(json) };
    const expected = 'no body if json is given';
    throw badOption('request()', { name: 'body', value: body, expected });
  }
  if (body === undefined) return {};
  if (typeof body === 'string' || body instanceof Uint8Array) return { bytes: body };
  const encoded = new Response(body);
  return { type: encoded.headers.get('content-type'), bytes: await encoded.bytes() };
}

function hasType(headers: object): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
}

/** The body of `message`, which is read as fast as the test reads it. */
function streamOf(message: IncomingMessage, disconnect: () => void): ReadableStream<Uint8Array> {
  const chunks = message[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (!done) {
            controller.enqueue(new Uint8Array(value));
            return;
          }
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        disconnect();
      },
      cancel: disconnect,
    },
    { highWaterMark: 0 },
  );
}

function toResponse(
  message: IncomingMessage,
  body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
): Response {
  const headers = new Headers();
  for (let at = 0; at < message.rawHeaders.length; at += 2) {
    headers.append(message.rawHeaders[at]!, message.rawHeaders[at + 1]!);
  }
  const status = message.statusCode!;
  const isBodyless = [204, 205, 304].includes(status);
  return new Response(isBodyless ? null : body, {
    status,
    statusText: message.statusMessage!,
    headers,
  });
}
