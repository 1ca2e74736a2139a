import type { Server } from 'node:http';
import { createEventStream, H3, iterable, readBody, serve } from 'h3/node';

import { defineContestant } from '../contestant.ts';
import { ITEMS, MIDDLEWARES, parseUser, RESOURCES, readUser } from '../http/workloads.ts';

/**
 * h3 with its adapter for Node. Cancels with `event.req.signal`, `iterable()`, and `onClosed()` of an event
 * stream. Its WebSockets need crossws.
 */
export const contestant = defineContestant<H3>({
  packages: ['h3', 'zod'],
  routes: {
    hello: (app) => app.get('/', () => ({ hello: 'world' })),
    parameter: (app) => {
      for (const resource of RESOURCES) {
        app.get(`/api/v1/${resource}/:id`, (event) => ({ resource, id: event.context.params?.id }));
      }
    },
    post: (app) => postUsers(app, readUser),
    list: (app) => app.get('/items', () => ({ data: ITEMS })),
    middlewares: (app) => {
      for (let step = 0; step < MIDDLEWARES; step++) {
        app.use((event, next) => {
          event.context.count = Number(event.context.count ?? 0) + 1;
          return next();
        });
      }
      app.get('/', (event) => ({ count: event.context.count }));
    },
    validated: (app) => postUsers(app, parseUser),
    body: (app, { body }) =>
      app.post('/body', async ({ req }) => {
        await body(req.body);
        return '';
      }),
    query: (app, { query }) => app.get('/query', query),
    call: (app, { call }) => app.get('/call', ({ req }) => call(req.signal)),
    stream: (app, { chunks }) => app.get('/stream', () => iterable(chunks())),
    events: (app, { repeat }) =>
      app.get('/events', (event) => {
        const stream = createEventStream(event);
        stream.onClosed(repeat(() => stream.push('tick')));
        return stream.send();
      }),
  },
  async serve(register) {
    const app = new H3();
    await register(app);
    const options = { port: 0, hostname: '127.0.0.1', silent: true };
    return (await serve(app, options).ready()).node?.server as Server;
  },
});

function postUsers(app: H3, read: typeof readUser): void {
  app.post('/users', async (event) => {
    const user = read(await readBody(event));
    event.res.status = user ? 201 : 400;
    return user ? { data: user } : { error: 'Not a user' };
  });
}
