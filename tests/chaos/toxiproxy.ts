import net from 'node:net';

import { freePort, listenAnywhere } from '../../deploy/local/testing/ports.ts';
import { startProgram } from '../../deploy/local/testing/program.ts';
import { ensureTool } from '../../tools/programs.ts';

/** A TCP proxy to one port, whose connections can be disturbed. */
export interface PartProxy {
  /** The port that clients connect to. */
  readonly port: number;
  /** Closes all connections and refuses new ones. */
  refuse(): Promise<void>;
  /** Delays every response by `ms`. */
  delay(ms: number): Promise<void>;
  /** Closes all connections; new ones receive random bytes and are closed. */
  sendGarbage(): Promise<void>;
  /** Closes all connections; new ones are accepted. */
  disconnect(): Promise<void>;
  /** Ends every disturbance. */
  heal(): Promise<void>;
}

/** A running Toxiproxy (https://github.com/Shopify/toxiproxy). */
export interface Toxiproxy {
  createProxy(name: string, port: number): Promise<PartProxy>;
  stop(): Promise<void>;
}

/** Starts Toxiproxy; builds it first if the machine does not have it. */
export async function startToxiproxy(): Promise<Toxiproxy> {
  const apiPort = await freePort();
  const command = [ensureTool('toxiproxy-server'), '-port', String(apiPort)];
  const program = await startProgram(command, { ready: `http://127.0.0.1:${apiPort}/version` });
  const garbage = net.createServer(sendGarbage);
  const garbagePort = await listenAnywhere(garbage);

  async function send(method: string, path: string, body?: object): Promise<{ listen: string }> {
    const response = await fetch(`http://127.0.0.1:${apiPort}${path}`, {
      method,
      body: body ? JSON.stringify(body) : null,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Cannot ${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : { listen: '' };
  }

  return {
    async createProxy(name, port) {
      const upstream = `127.0.0.1:${port}`;
      const path = `/proxies/${name}`;
      const update = (change: object) => send('PATCH', path, change);
      const { listen } = await send('POST', '/proxies', {
        ...{ name, upstream, listen: '127.0.0.1:0', enabled: true },
      });
      let isDelayed = false;
      return {
        port: Number(listen.split(':')[1]),
        refuse: async () => void (await update({ enabled: false })),
        async delay(ms) {
          isDelayed = true;
          const attributes = { latency: ms };
          await send('POST', `${path}/toxics`, { name: 'delay', type: 'latency', attributes });
        },
        sendGarbage: async () => void (await update({ upstream: `127.0.0.1:${garbagePort}` })),
        async disconnect() {
          await update({ enabled: false });
          await update({ enabled: true });
        },
        async heal() {
          if (isDelayed) await send('DELETE', `${path}/toxics/delay`);
          isDelayed = false;
          await update({ enabled: true, upstream });
        },
      };
    },
    async stop() {
      await program.stop();
      await new Promise((resolve) => garbage.close(resolve));
    },
  };
}

/** Sends random bytes to a client, and closes the connection after 100 ms. */
function sendGarbage(socket: net.Socket): void {
  socket.on('error', () => {}).write(crypto.getRandomValues(new Uint8Array(256)));
  setTimeout(() => socket.destroy(), 100);
}
