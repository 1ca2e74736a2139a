import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { median } from '../deploy/local/testing/statistics.ts';
import { readSettings } from './options.ts';
import { startMeasured } from './process.ts';
import { describeEnvironment, environmentLines, publish } from './report.ts';

const SERVER = fileURLToPath(new URL('websockets/server.ts', import.meta.url));
const PACKAGES = { ws: 'ws', fastify: '@fastify/websocket', fw: '@fw/middleware' };

/** The memory of a server, in bytes: of its process, and of its JavaScript objects and buffers. */
interface Memory {
  readonly rss: number;
  readonly used: number;
}

/** Measures the memory of open WebSockets and prints a report. */
export async function runWebSockets(args: readonly string[]): Promise<void> {
  const settings = readSettings(args, {
    summary: 'Compares the memory of open WebSockets.',
    names: { only: { help: 'servers', known: Object.keys(PACKAGES) } },
    counts: {
      connections: { help: 'open connections', default: 10_000 },
      rounds: { help: 'measured rounds', default: 3 },
    },
  });
  if (!settings) return;
  const { connections, rounds } = settings.counts;
  const environment = describeEnvironment(['ws', '@fastify/websocket', 'fastify']);
  const samples: (Memory & { readonly server: string })[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const server of settings.names.only) {
      process.stderr.write(`websockets, round ${round + 1}: ${server}\n`);
      samples.push({ server, ...(await measure(server, connections)) });
    }
  }
  const rows = settings.names.only.map((server) => {
    const own = samples.filter((sample) => sample.server === server);
    return [server, bytes(own.map(({ used }) => used)), bytes(own.map(({ rss }) => rss))];
  });
  const table = markdownTable(['', 'objects and buffers', 'process'], rows);
  const lines = `Bytes per connection of ${connections} open ones that have sent one message each; medians of ${rounds} rounds.`;
  publish(
    {
      name: 'websockets',
      markdown: [environmentLines(environment), lines, table].join('\n\n'),
      data: { environment, connections, samples },
    },
    settings,
  );
}

function bytes(values: readonly number[]): string {
  return Math.round(median(values)).toLocaleString('en');
}

/** The memory per connection of one server. */
async function measure(server: string, connections: number): Promise<Memory> {
  const {
    ready: port,
    request,
    stop,
  } = await startMeasured<number, Memory>('--expose-gc', SERVER, server);
  const sockets: Socket[] = [];
  const open = async (count: number) => {
    for (let at = 0; at < count; at += 100) {
      const opened = Array.from({ length: Math.min(100, count - at) }, () => openWebSocket(port));
      sockets.push(...(await Promise.all(opened)));
    }
  };
  try {
    await open(100); // code and caches that all connections share
    const before = await request();
    await open(connections);
    const after = await request();
    return {
      rss: (after.rss - before.rss) / connections,
      used: (after.used - before.used) / connections,
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    await stop();
  }
}

const HANDSHAKE = [
  'GET /rooms/7 HTTP/1.1',
  'Host: bench',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  '\r\n',
].join('\r\n');
const TEXT = '{"text":"hello"}';
/** With the mask 0, so that the payload is unchanged. */
const MESSAGE = Buffer.concat([
  Buffer.from([0x81, 0x80 | TEXT.length, 0, 0, 0, 0]),
  Buffer.from(TEXT),
]);

/** A client without memory of its own; resolves when its message has come back. */
function openWebSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('error', reject).write(HANDSHAKE);
    socket.on('data', (data) => {
      const wasOpen = received.includes('\r\n\r\n');
      received += data.toString('latin1');
      if (received.endsWith(TEXT)) resolve(socket);
      else if (!wasOpen && received.includes('\r\n\r\n')) socket.write(MESSAGE);
    });
  });
}
