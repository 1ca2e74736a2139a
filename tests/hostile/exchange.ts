import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { type RawResponse, readResponses } from './responses.ts';

/** Names a test that hangs; no measurement. */
const GUARD_MS = 60_000;

/** The id of the request that `exchange` sends last. */
const LAST = 'last-on-connection';

export interface Exchange {
  /** The responses to the bytes, without the one to the last request. */
  readonly responses: readonly RawResponse[];
  /** Such as `400 close`: the statuses, and whether the connection could be used for another request. */
  readonly outcome: string;
}

export interface ExchangeOptions {
  readonly port: number;
  /** Sent as Latin-1, one byte per character. */
  readonly bytes: string;
  /** Ends the client's side after the bytes: for requests that are incomplete. */
  readonly isCut: boolean;
  /** A path for the last request, which shows whether the connection is still usable. */
  readonly path: string;
}

/**
 * Sends `bytes` on a new connection. If the server keeps it open after its response, sends one valid
 * request after them: every response before that one's is a response to `bytes`.
 */
export async function exchange(options: ExchangeOptions): Promise<Exchange> {
  const { port, bytes, isCut, path } = options;
  const connection = open(port);
  const methods = /^[A-Z]+/.exec(bytes) ?? [];
  const read = () => readResponses(connection.received(), [...methods]);
  const isFinal = () => read().responses.some(({ status }) => status >= 200);

  if (isCut) connection.socket.end(bytes, 'latin1');
  else connection.socket.write(bytes, 'latin1');
  await connection.until(isFinal);
  if (!isCut && !announcesClose(read().responses)) {
    connection.socket.write(
      `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${LAST}\r\nConnection: close\r\n\r\n`,
    );
  }
  await connection.until(() => false);
  connection.socket.destroy();

  const { responses, rest } = read();
  if (rest.startsWith('{"type"')) return { responses, outcome: 'HTTP/0.9 close' };
  if (rest !== '') throw new Error(`The server sent no valid response: ${JSON.stringify(rest)}`);
  const isKept = responses.at(-1)?.headers.get('x-request-id') === LAST;
  const own = isKept ? responses.slice(0, -1) : responses;
  const statuses = own.map(({ status }) => status);
  return { responses: own, outcome: [...statuses, isKept ? 'keep' : 'close'].join(' ') };
}

function announcesClose(responses: readonly RawResponse[]): boolean {
  return responses.some(({ headers }) => headers.get('connection') === 'close');
}

interface Connection {
  readonly socket: Socket;
  received(): string;
  /** Resolves when `isDone`, or when the server has closed its side. */
  until(isDone: () => boolean): Promise<void>;
}

function open(port: number): Connection {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('latin1');
  let text = '';
  let isClosed = false;
  let wake = () => {};
  socket.on('data', (data) => {
    text += data;
    wake();
  });
  for (const event of ['end', 'close', 'error']) {
    socket.on(event, () => {
      isClosed = true;
      wake();
    });
  }
  const until = (isDone: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const guard = sleep(GUARD_MS, undefined, { ref: false });
      guard.then(() => reject(new Error(`No more data after ${JSON.stringify(text)}`)));
      wake = () => {
        if (isClosed || isDone()) resolve();
      };
      wake();
    });
  return { socket, received: () => text, until };
}
