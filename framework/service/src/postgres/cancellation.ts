import { connect } from 'node:net';

import type { PoolClient } from 'pg';

/** The code of a request to cancel a statement, whose message has 16 bytes (PostgreSQL, "CancelRequest"). */
const CANCEL_REQUEST = 80_877_102;

/** A request that arrives before its statement has no effect: another one follows. */
const REPEAT_MS = 50;

/** Members of a connection that the types of the driver omit. */
type Connection = PoolClient & { readonly processID: number; readonly secretKey: number };

/**
 * Ends the statement of `client` on the server when `signal` aborts. Call the result when the statement
 * has ended: it resolves once no request can reach the next statement of this connection.
 */
export function cancelOnAbort(
  client: PoolClient,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): () => Promise<void> {
  let hasEnded = false;
  let timer: NodeJS.Timeout | undefined;
  let request: Promise<void> | undefined;
  const cancel = () => {
    request = requestCancellation(client as Connection, timeoutMs).then(() => {
      if (!hasEnded) timer = setTimeout(cancel, REPEAT_MS);
    });
  };
  signal.addEventListener('abort', cancel);
  return async () => {
    hasEnded = true;
    signal.removeEventListener('abort', cancel);
    clearTimeout(timer);
    await request;
  };
}

/** The server closes the connection of the request after the signal to the process of the statement. */
function requestCancellation(client: Connection, timeoutMs: number): Promise<void> {
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(CANCEL_REQUEST, 4);
  message.writeInt32BE(client.processID, 8);
  message.writeInt32BE(client.secretKey, 12);
  return new Promise((resolve) => {
    const { host, port } = client;
    const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : client);
    socket.setTimeout(timeoutMs, () => socket.destroy());
    // If the request fails, the time limit of the statement remains.
    socket.on('error', () => {}).on('close', () => resolve());
    socket.resume().write(message);
  });
}
