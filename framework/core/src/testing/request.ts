import type { IncomingMessage } from 'node:http';
import { duplexPair } from 'node:stream';

import type { Application } from '../application.ts';
import { http } from '../http.ts';
import { createServer } from '../server/create-server.ts';

export interface RequestOptions {
  /** Default GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
}

/**
 * Sends one request to `app` in process and reads the whole response. The request passes through the
 * HTTP parser and all checks, only without a port. `path` is sent unchanged.
 */
export async function request(
  app: Application,
  path: string,
  { method = 'GET', headers = {}, body }: RequestOptions = {},
): Promise<Response> {
  await app.ready();
  const [client, remote] = duplexPair();
  const server = createServer(app);
  server.emit('connection', Object.assign(remote, { remoteAddress: '127.0.0.1' }));
  try {
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = http.request({
        createConnection: () => client,
        path,
        method,
        headers: { Host: 'localhost', ...headers },
      });
      request.on('response', resolve).on('error', reject);
      request.end(body);
    });
    return await toResponse(message);
  } finally {
    client.destroy();
    remote.destroy();
  }
}

async function toResponse(message: IncomingMessage): Promise<Response> {
  const headers = new Headers();
  for (let at = 0; at < message.rawHeaders.length; at += 2) {
    headers.append(message.rawHeaders[at]!, message.rawHeaders[at + 1]!);
  }
  const body = Buffer.concat(await message.toArray());
  const status = message.statusCode!;
  const isBodyless = [204, 205, 304].includes(status);
  return new Response(isBodyless ? null : body, {
    status,
    statusText: message.statusMessage!,
    headers,
  });
}
