import { once } from 'node:events';
import net from 'node:net';

import { listenAnywhere } from '../../../deploy/local/testing/ports.ts';

/** A network connection to a server, which a test can interrupt. */
export interface Link {
  readonly port: number;
  /** Resets all connections and refuses new ones, until `restore`. */
  cut(): void;
  /** Forwards nothing, but keeps and accepts connections, until `restore`. */
  hang(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Starts to forward connections to `port` of this machine. */
export async function startLink(port: number): Promise<Link> {
  const pairs = new Set<readonly [net.Socket, net.Socket]>();
  let state: 'open' | 'cut' | 'hanging' = 'open';

  const server = net.createServer((client) => {
    if (state === 'cut') {
      client.resetAndDestroy();
      return;
    }
    const pair = [client, net.connect(port, '127.0.0.1')] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => {}).on('close', () => end(pair));
    }
    if (state === 'open') forward(pair);
  });

  function end(pair: readonly [net.Socket, net.Socket]): void {
    pairs.delete(pair);
    for (const socket of pair) if (!socket.destroyed) socket.resetAndDestroy();
  }

  return {
    port: await listenAnywhere(server),
    cut() {
      state = 'cut';
      for (const pair of pairs) end(pair);
    },
    hang() {
      state = 'hanging';
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream);
        upstream.unpipe(client);
      }
    },
    restore() {
      if (state === 'hanging') for (const pair of pairs) forward(pair);
      state = 'open';
    },
    async close() {
      for (const pair of pairs) end(pair);
      await once(server.close(), 'close');
    },
  };
}

function forward([client, upstream]: readonly [net.Socket, net.Socket]): void {
  client.pipe(upstream).pipe(client);
}
