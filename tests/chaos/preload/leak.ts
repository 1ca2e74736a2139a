import { subscribe } from 'node:diagnostics_channel';

/** Loaded with `node --import`: keeps about 4 kB of memory per request, as a service with a bug would. */
const kept: unknown[] = [];

subscribe('http.server.request.start', () => {
  kept.push(new Array(512).fill(kept.length));
});
