import { connect } from 'node:net';

/** A request that its client does not wait for. */
export interface Departure {
  readonly port: number;
  readonly path: string;
  /** Further header lines. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How many clients leave, 100 of them at a time. */
  readonly clients: number;
}

/** Sends requests from clients that leave before their response is complete. */
export async function leave({ clients, ...departure }: Departure): Promise<void> {
  let left = clients;
  const leaveInTurn = async () => {
    while (left-- > 0) await leaveOnce(departure, left);
  };
  await Promise.all(Array.from({ length: 100 }, leaveInTurn));
}

/** Half of the clients leave at the first byte of the response, the others within 5 ms. */
function leaveOnce(
  { port, path, headers = {} }: Omit<Departure, 'clients'>,
  number: number,
): Promise<void> {
  const lines = Object.entries({ Host: 'leaving', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  if (number % 2 === 0) socket.once('data', () => socket.resetAndDestroy());
  else setTimeout(() => socket.destroy(), number % 6);
  return new Promise((resolve) => {
    socket.on('error', () => {}).on('close', () => resolve());
  });
}
