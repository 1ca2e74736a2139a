import { Readable } from 'node:stream';

import websocket from '@fastify/websocket';
import Fastify from 'fastify';

import type { Contestant } from '../work.ts';

/** `request.signal`, and the README of @fastify/websocket. */
export const contestant: Contestant = {
  packages: ['fastify', '@fastify/websocket'],
  async start({ body, waiting, chunks, events, repeat }) {
    const app = Fastify();
    await app.register(websocket);
    app.addContentTypeParser('application/octet-stream', (_request, payload, done) => {
      done(null, payload);
    });
    app.post('/body', async (request) => body(request.body as Readable));
    for (const [name, wait] of Object.entries(waiting)) {
      app.get(`/${name}`, async ({ signal }) => wait(signal));
    }
    app.get('/stream', (_request, reply) => reply.send(Readable.from(chunks())));
    app.get('/events', ({ signal }, reply) =>
      reply.type('text/event-stream').send(Readable.from(events(signal))),
    );
    app.get('/websocket', { websocket: true }, (socket) => {
      socket.on(
        'close',
        repeat(() => socket.send('first')),
      );
    });
    return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
  },
};
