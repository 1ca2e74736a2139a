import type { Socket } from 'node:net';

import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { loadContestants, namesWith } from './contestant.ts';
import { measureMemory, medianBytes, openConnection } from './memory.ts';
import { readSettings } from './options.ts';
import { publish } from './report.ts';

const PACKAGES = ['ws', '@fastify/websocket', 'fastify', 'hono', '@hono/node-server'];

/** Measures the memory of open WebSockets and prints a report. */
export async function runWebSockets(args: readonly string[]): Promise<void> {
  const contestants = await loadContestants();
  const settings = readSettings(args, {
    summary: 'Compares the memory of open WebSockets.',
    names: { only: { help: 'contestants', known: namesWith(contestants, 'websocket') } },
    counts: {
      connections: { help: 'open connections', default: 10_000 },
      rounds: { help: 'measured rounds', default: 3 },
    },
  });
  if (!settings) return;
  const { connections: count, rounds } = settings.counts;
  const { only: names } = settings.names;
  const websocket = { routes: ['websocket'] as const, open: openWebSocket, count };
  const samples = await measureMemory({
    section: 'websockets',
    rounds,
    names,
    kinds: { websocket },
  });
  const rows = names.map((name) => [name, ...medianBytes(samples, name, 'websocket')]);
  const lines = [
    `Bytes per connection of ${count} open ones that have sent one message each; medians of ${rounds} rounds.`,
    markdownTable(['', 'objects and buffers', 'process'], rows),
  ];
  publish(
    { name: 'websockets', packages: PACKAGES, lines, data: { connections: count, samples } },
    settings,
  );
}

const HANDSHAKE = [
  'GET /websocket HTTP/1.1',
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
