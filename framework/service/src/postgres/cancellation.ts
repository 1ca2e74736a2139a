import { connect } from 'node:net';

import type { PoolClient } from 'pg';

/** The code of a request to cancel a statement, whose message has 16 bytes (PostgreSQL, "CancelRequest"). */
const CANCEL_REQUEST = 80_877_102;

/** The pause before the request is repeated: one that arrives before its statement has no effect. */
const REPEAT_MS = 50;

/** Members of a connection that the types of the driver omit. */
type Connection = PoolClient & { readonly processID: number; readonly secretKey: number };

/**
 * Sends a statement of `client` by `send`; ends it on the server when `signal` aborts. Settles once no request
 * to cancel it can reach the next statement of this connection.
 */
export async function cancelOnAbort<T>(
  client: PoolClient,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
  send: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  let hasEnded = false;
  let timer: NodeJS.Timeout | undefined;
  let request: Promise<void> | undefined;
  const cancel = () => {
    request = requestCancellation(client as Connection, timeoutMs).then(() => {
      if (!hasEnded) timer = setTimeout(cancel, REPEAT_MS);
    });
  };
  signal.addEventListener('abort', cancel);
  try {
    return await send();
  } finally {
    hasEnded = true;
    signal.removeEventListener('abort', cancel);
    clearTimeout(timer);
    await request;
  }
}

/**
 * Resolves when the server has closed the connection of the request, after the signal to the process of the
 * statement, or when the request failed. It needs no TLS: its key is valid for this connection only.
 */
function requestCancellation(client: Connection, timeoutMs: number): Promise<void> {
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(CANCEL_REQUEST, 4);
  message.writeInt32BE(client.processID, 8);
  message.writeInt32BE(client.secretKey, 12);
  return new Promise((resolve) => {
    const { host, port } = client;
    const address = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
    const socket = connect(address);
    socket.setTimeout(timeoutMs, () => socket.destroy());
    // If the request fails, the time limit of the statement remains.
    socket.on('error', () => {}).on('close', () => resolve());
    socket.resume().write(message);
  });
}
