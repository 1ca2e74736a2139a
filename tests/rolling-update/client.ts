import { setTimeout as sleep } from 'node:timers/promises';

import { WebSocket } from 'ws';

/** What a client has seen. */
export interface ClientRecord {
  /** Codes of the connections that were open. */
  readonly codes: number[];
  /** Times from the end of a connection to the next open one. */
  readonly absencesMs: number[];
  readonly confirmed: string[];
}

/** A client that sends numbered messages, each until it is confirmed, and reconnects as browsers would. */
export async function runClient(
  url: string,
  name: string,
  stop: AbortSignal,
): Promise<ClientRecord> {
  const record: ClientRecord = { codes: [], absencesMs: [], confirmed: [] };
  const idOf = () => `${name}-${record.confirmed.length}`;
  let leftMs = 0;
  while (!stop.aborted) {
    const socket = new WebSocket(url);
    const send = () =>
      socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify({ id: idOf() }));
    let wasOpen = false;
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    socket.on('error', () => {}); // a rejected handshake, after which the client tries again
    socket.once('open', () => {
      wasOpen = true;
      if (leftMs > 0) record.absencesMs.push(performance.now() - leftMs);
      if (stop.aborted) socket.close();
      else send();
    });
    socket.on('message', (data) => {
      record.confirmed.push(JSON.parse(String(data)).confirmed);
      setTimeout(send, 500);
    });
    const leave = () => socket.close();
    stop.addEventListener('abort', leave);
    const code = await closed;
    stop.removeEventListener('abort', leave);
    if (wasOpen && !stop.aborted) {
      leftMs = performance.now();
      record.codes.push(code);
    }
    await sleep(100 + 400 * Math.random());
  }
  return record;
}
