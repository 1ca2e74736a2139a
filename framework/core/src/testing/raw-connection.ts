import { connect } from 'node:net';

/** A connection whose every octet the caller writes: what HTTP clients refuse to send. */
export interface RawConnection {
  /** A string is sent as Latin-1, so that each of its characters is one octet. */
  send(octets: string | Uint8Array): this;
  /** All that has come, as Latin-1, once it matches `pattern`; rejects if the server hangs up before. */
  read(pattern: RegExp): Promise<string>;
  /** All that has come, as Latin-1, once the server has hung up. */
  readAll(): Promise<string>;
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
        else reject(new Error(`The server hung up after ${JSON.stringify(received)}`));
      };
      waiting.add(look);
      look();
    });

  return {
    send(octets) {
      socket.write(typeof octets === 'string' ? Buffer.from(octets, 'latin1') : octets);
      return this;
    },
    read: (pattern) => wait(() => pattern.test(received)),
    readAll: () => wait(() => isOver),
    close: () => socket.destroy(),
  };
}
