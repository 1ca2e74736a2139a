import { createServer } from 'node:http';
import { json } from 'express';
import polka, { type Polka } from 'polka';

import { defineContestant } from '../contestant.ts';
import { ITEMS, MIDDLEWARES, parseUser, RESOURCES, readUser } from '../http/workloads.ts';
import { countBytes } from '../work.ts';
import { send } from './raw.ts';

/** Polka on a server of `node:http`, as its own `listen` creates it. */
export const contestant = defineContestant<Polka>({
  packages: ['polka', 'zod'],
  routes: {
    hello: (app) => app.get('/', (_req, res) => send(res, 200, { hello: 'world' })),
    parameter: (app) => {
      for (const resource of RESOURCES) {
        app.get(`/api/v1/${resource}/:id`, (req, res) =>
          send(res, 200, { resource, id: req.params.id }),
        );
      }
    },
    post: (app) => postUsers(app, readUser),
    list: (app) => app.get('/items', (_req, res) => send(res, 200, { data: ITEMS })),
    middlewares: (app) => {
      for (let step = 0; step < MIDDLEWARES; step++) {
        app.use((req, _res, next) => {
          req.count = (req.count ?? 0) + 1;
          return next();
        });
      }
      app.get('/', (req, res) => send(res, 200, { count: req.count }));
    },
    upload: (app) =>
      app.post('/upload', async (req, res) => send(res, 200, { bytes: await countBytes(req) })),
    validated: (app) => postUsers(app, parseUser),
  },
  async serve(register) {
    const app = polka();
    await register(app);
    return createServer(app.handler);
  },
});

function postUsers(app: Polka, read: typeof readUser): void {
  // Polka's documentation recommends body-parser, which Express exports as `json`.
  app.use(json());
  app.post('/users', (req, res) => {
    const user = read(req.body);
    send(res, user ? 201 : 400, user ? { data: user } : { error: 'Not a user' });
  });
}
