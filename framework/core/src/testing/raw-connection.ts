import { connect } from 'node:net';

/** A TCP connection for requests that HTTP clients cannot send. */
export interface RawConnection {
  /** Sends bytes; a string is sent as Latin-1, one byte per character. */
  send(bytes: string | Uint8Array): this;
  /** All received data, as Latin-1, once it matches `pattern`; rejects if the server closes before. */
  read(pattern: RegExp): Promise<string>;
  /** All received data, as Latin-1, once the server has closed the connection. */
  readAll(): Promise<string>;
  /** Closes the connection without waiting for the server. */
  close(): void;
}

/** Opens a connection to a server on this machine. */
export function openConnection(port: number): RawConnection {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('latin1');
  const waiting = new Set<() => void>();
  let received = '';
  let isOver = false;
  const wake = () => {
    for (const look of waiting) look();
  };
  socket.on('data', (text) => {
    received += text;
    wake();
  });
  for (const event of ['end', 'close', 'error']) {
    socket.on(event, () => {
      isOver = true;
      wake();
    });
  }
  const wait = (isThere: () => boolean) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        if (!isThere() && !isOver) return;
        waiting.delete(look);
        if (isThere()) resolve(received);
        else
          reject(new Error(`The server closed the connection after ${JSON.stringify(received)}`));
      };
      waiting.add(look);
      look();
    });

  return {
    send(bytes) {
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
      return this;
    },
    read: (pattern) => wait(() => pattern.test(received)),
    readAll: () => wait(() => isOver),
    close: () => socket.destroy(),
  };
}
