/*
 * The process of one contestant: `node --expose-gc server.ts <contestant> <PostgreSQL> <service>`. For each
 * message from its parent it sends what runs, and how many connections of clients are in its memory; for
 * the message `collect`, after a garbage collection.
 */
import { subscribe } from 'node:diagnostics_channel';
import { setImmediate } from 'node:timers/promises';

import { serveParent } from '../measured.ts';
import { type Contestant, createWork } from './work.ts';

const [name, postgresUrl = '', serviceUrl = ''] = process.argv.slice(2);
const { contestant }: { contestant: Contestant } = await import(`./contestants/${name}.ts`);

let connections = 0;
const collected = new FinalizationRegistry(() => connections--);
subscribe('net.server.socket', (message) => {
  connections++;
  collected.register((message as { socket: object }).socket, undefined);
});

// Most frameworks log that a client has left.
console.error = () => {};

const work = createWork(postgresUrl, serviceUrl);
serveParent(await contestant.start(work), async (message) => {
  for (let turn = 0; turn < 3 && message === 'collect'; turn++) {
    globalThis.gc?.();
    await setImmediate();
  }
  return { ...work.running, connections };
});
