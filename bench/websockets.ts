import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

import { markdownTable } from '../deploy/local/testing/markdown.ts';
import type { Memory } from './measured.ts';
import { bytes, memoryPerConnection, openConnection } from './memory.ts';
import { readSettings } from './options.ts';
import { describeEnvironment, environmentLines, publish } from './report.ts';

const SERVER = fileURLToPath(new URL('websockets/server.ts', import.meta.url));
const PACKAGES = { ws: 'ws', fastify: '@fastify/websocket', fw: '@fw/middleware' };

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
      const memory = await memoryPerConnection([SERVER, server], {
        connections,
        open: openWebSocket,
      });
      samples.push({ server, ...memory });
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

/** A client whose message has come back. */
function openWebSocket(port: number): Promise<Socket> {
  return openConnection(port, [
    { send: HANDSHAKE, until: (received) => received.endsWith('\r\n\r\n') },
    { send: MESSAGE, until: (received) => received.endsWith(TEXT) },
  ]);
}
