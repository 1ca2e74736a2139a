import { createEventStream, H3, iterable, serve } from 'h3/node';

import type { Contestant } from '../work.ts';

/** `event.req.signal`, `iterable()`, and `onClosed()` of an event stream. Its WebSockets need crossws. */
export const contestant: Contestant = {
  packages: ['h3'],
  without: 'websocket',
  async start({ body, waiting, chunks, repeat }) {
    const app = new H3();
    app.post('/body', async ({ req }) => {
      await body(req.body);
      return '';
    });
    for (const [name, wait] of Object.entries(waiting)) {
      app.get(`/${name}`, ({ req }) => wait(req.signal));
    }
    app.get('/stream', () => iterable(chunks()));
    app.get('/events', (event) => {
      const events = createEventStream(event);
      events.onClosed(repeat(() => events.push('first')));
      return events;
    });
    const server = await serve(app, { port: 0, hostname: '127.0.0.1', silent: true }).ready();
    return Number(new URL(server.url ?? '').port);
  },
};
