/*
 * The process of one contestant: `node server.ts <contestant> <folder> <database> [tls]`. Sends its parent
 * the port and, for each message, the CPU time and the bytes of uploads so far and the largest resident memory.
 */
import { readFileSync } from 'node:fs';

import { serveParent } from '../measured.ts';
import { loadContestant } from './contestant.ts';
import { createStore, received } from './items.ts';

const [name = '', folder = '', database = '', tls] = process.argv.slice(2);
const read = (file: string) => readFileSync(`${folder}/${file}`, 'utf8');
const { start } = await loadContestant(name);
const port = await start({
  store: createStore(database),
  folder,
  tls: tls ? { cert: read('tls.crt'), key: read('tls.key') } : undefined,
});
// Some frameworks log every connection that wrk closes at the end of a round.
console.error = () => {};
// Not `maxRSS`, which Linux takes over from the process that started this one.
let peakBytes = 0;
setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 100);
serveParent(port, () => {
  const { user, system } = process.cpuUsage();
  return {
    cpuMicros: user + system,
    uploadBytes: received.bytes,
    peakMiB: peakBytes / 1024 ** 2,
  };
});
