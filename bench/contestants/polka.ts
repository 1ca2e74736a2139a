import { createServer, type ServerResponse } from 'node:http';
import { json } from 'express';
import polka, { type Polka } from 'polka';

import { defineContestant } from '../contestant.ts';
import { ITEMS, MIDDLEWARES, RESOURCES, readUser, UserSchema } from '../http/workloads.ts';
import { countBytes } from '../work.ts';

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
    post: (app) => {
      // Polka's documentation recommends body-parser, which Express exports as `json`.
      app.use(json());
      app.post('/users', (req, res) => {
        const user = readUser(req.body);
        send(res, user ? 201 : 400, user ? { data: user } : { error: 'Not a user' });
      });
    },
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
    validated: (app) => {
      app.use(json());
      app.post('/users', (req, res) => {
        const { success, data } = UserSchema.safeParse(req.body);
        send(res, success ? 201 : 400, success ? { data } : { error: 'Not a user' });
      });
    },
  },
  async serve(register) {
    const app = polka();
    await register(app);
    return createServer(app.handler);
  },
});

function send(res: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  res.end(body);
}
