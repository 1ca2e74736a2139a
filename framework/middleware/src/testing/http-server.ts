import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

import { onTestFinished } from 'vitest';

/** An HTTP server that stops when the test ends. */
export interface TestServer {
  readonly url: string;
  /** Closes the server and its connections. */
  stop(): Promise<void>;
}

/** Starts a server on a free port. */
export async function startHttpServer(listener: RequestListener): Promise<TestServer> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('Cannot find the port');
  const stop = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${address.port}`, stop };
}
