import { subscribe } from 'node:diagnostics_channel';

/** Keeps 256 KiB of memory per request. */
const kept: Buffer[] = [];

subscribe('http.server.request.start', () => {
  kept.push(Buffer.alloc(256 * 1024, 1));
});
