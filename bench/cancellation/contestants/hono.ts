import { serve, upgradeWebSocket } from '@hono/node-server';
import { Hono } from 'hono';
import { stream, streamSSE } from 'hono/streaming';
import { WebSocketServer } from 'ws';

import type { Contestant } from '../work.ts';

/** `c.req.raw.signal`, `stream.pipe()`, and `upgradeWebSocket` of @hono/node-server. */
export const contestant: Contestant = {
  packages: ['hono', '@hono/node-server', 'ws'],
  start({ body, waiting, chunks, events, repeat }) {
    const app = new Hono();
    app.post('/body', async (c) => {
      await body(c.req.raw.body);
      return c.body(null);
    });
    for (const [name, wait] of Object.entries(waiting)) {
      app.get(`/${name}`, async (c) => c.json(await wait(c.req.raw.signal)));
    }
    app.get('/stream', (c) =>
      stream(c, (out) =>
        out.pipe(ReadableStream.from(chunks()).pipeThrough(new TextEncoderStream())),
      ),
    );
    app.get('/events', (c) =>
      streamSSE(c, async (out) => {
        for await (const data of events(c.req.raw.signal)) await out.writeSSE({ data });
      }),
    );
    app.get(
      '/websocket',
      upgradeWebSocket(() => {
        let stop: (() => void) | undefined;
        return {
          onOpen: (_event, socket) => {
            stop = repeat(() => socket.send('first'));
          },
          onClose: () => stop?.(),
        };
      }),
    );
    // Its type differs from that of ws in an optional property only.
    const websocket = { server: new WebSocketServer({ noServer: true }) as never };
    return new Promise((resolve) => {
      serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', websocket }, ({ port }) =>
        resolve(port),
      );
    });
  },
};
