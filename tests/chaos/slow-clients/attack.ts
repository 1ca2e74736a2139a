import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a slow client does one byte at a time. */
export const KINDS = ['head', 'body', 'response'] as const;
export type Kind = (typeof KINDS)[number];

export interface Attack {
  readonly port: number;
  readonly kind: Kind;
  readonly connections: number;
  /** The connections are opened one after the other in this time. */
  readonly openingMs: number;
  /** The time between two bytes of a connection. */
  readonly periodMs: number;
  /** Target of a request with a large response. */
  readonly path: string;
  /** Connections that are open for this time count as not closed. */
  readonly patienceMs: number;
}

export interface AttackResult {
  readonly kind: Kind;
  readonly connections: number;
  /** Connections that the server did not close. */
  readonly open: number;
  /** The longest time for which a connection was open. */
  readonly longestMs: number;
}

/** Opens the connections, and waits until the server has closed all of them. */
export async function attack(options: Attack): Promise<AttackResult> {
  const { kind, connections, openingMs, patienceMs } = options;
  const startedMs = performance.now();
  const durations: number[] = [];
  const sockets = new Set<Socket>();
  for (let index = 0; index < connections; index++) {
    const dueMs = startedMs + (openingMs * index) / connections;
    await sleep(Math.max(0, dueMs - performance.now()));
    const socket = openSlowConnection(options);
    const openedMs = performance.now();
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      durations.push(performance.now() - openedMs);
    });
  }
  while (sockets.size > 0 && performance.now() - startedMs < patienceMs) await sleep(50);
  const open = sockets.size;
  for (const socket of sockets) socket.destroy();
  return { kind, connections, open, longestMs: Math.round(Math.max(0, ...durations)) };
}

/** A connection whose request never ends, or whose response is not read to its end. */
function openSlowConnection({ port, kind, periodMs, path }: Attack): Socket {
  const head = 'Host: slow\r\nContent-Type: application/json\r\n';
  const starts = {
    head: `GET ${path} HTTP/1.1\r\n${head}X-Slow: `,
    body: `POST ${path} HTTP/1.1\r\n${head}Content-Length: 100000\r\n\r\n`,
    response: `GET ${path} HTTP/1.1\r\n${head}\r\n`,
  };
  const socket =
    kind === 'response'
      ? openSlowReader(port, periodMs)
      : connect({ port, host: '127.0.0.1' }).resume();
  socket.write(starts[kind]);
  // A reader sends too: with unread data, only a write finds that the server has reset the connection.
  // A server ignores empty lines between requests (RFC 9112 §2.2).
  const timer =
    kind === 'response'
      ? setInterval(() => socket.write('\r\n'), 500)
      : setInterval(() => socket.write('a'), periodMs);
  socket.on('close', () => clearInterval(timer));
  return socket.on('error', () => socket.destroy());
}

/** Reads one byte per period; the operating system buffers the rest. */
function openSlowReader(port: number, periodMs: number): Socket {
  const callback = () => {
    setTimeout(() => socket.resume(), periodMs);
    return false;
  };
  const onread = { buffer: new Uint8Array(1), callback };
  const socket: Socket = connect({ port, host: '127.0.0.1', onread });
  return socket;
}

/** `node attack.ts '{"port":8080,…}'` prints the result as JSON: an attack needs its own process. */
if (import.meta.main) {
  console.log(JSON.stringify(await attack(JSON.parse(process.argv[2] ?? '{}'))));
}
