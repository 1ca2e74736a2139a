import { subscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';

/** Every response has a header by which k6 counts those of a planted version. */
subscribe('http.server.response.created', (message) => {
  (message as { readonly response: ServerResponse }).response.setHeader('x-planted', '1');
});
