import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import cookieParser from 'cookie-parser';
import cors from 'cors';
import express, { type Express } from 'express';
import { rateLimit } from 'express-rate-limit';
import helmet from 'helmet';

import { defineContestant } from '../contestant.ts';
import {
  COOKIE_SECRET,
  ITEMS,
  MAX_PER_MINUTE,
  MIDDLEWARES,
  ORIGIN,
  parseUser,
  RESOURCES,
  readUser,
  SERVICES_FOLDER,
} from '../http/workloads.ts';
import { countBytes } from '../work.ts';

/**
 * Express without the two headers that no other contestant sends. Its documentation sends streams with
 * `pipe()`, and has no cancellation: `signal` of Node's request.
 */
export const contestant = defineContestant<Express>({
  packages: ['express', 'zod', 'express-rate-limit', 'cookie-parser', 'cors', 'helmet'],
  routes: {
    hello: (app) =>
      app.get('/', (_req, res) => {
        res.json({ hello: 'world' });
      }),
    parameter: (app) => {
      for (const resource of RESOURCES) {
        app.get(`/api/v1/${resource}/:id`, (req, res) => {
          res.json({ resource, id: req.params.id });
        });
      }
    },
    post: (app) => postUsers(app, readUser),
    list: (app) =>
      app.get('/items', (_req, res) => {
        res.json({ data: ITEMS });
      }),
    middlewares: (app) => {
      for (let step = 0; step < MIDDLEWARES; step++) {
        app.use((_req, res, next) => {
          res.locals.count = (res.locals.count ?? 0) + 1;
          return next();
        });
      }
      app.get('/', (_req, res) => {
        res.json({ count: res.locals.count });
      });
    },
    upload: (app) =>
      app.post('/upload', async (req, res) => {
        res.json({ bytes: await countBytes(req) });
      }),
    static: (app) => app.use('/services', express.static(SERVICES_FOLDER)),
    validated: (app) => postUsers(app, parseUser),
    cookies: (app) => {
      app.use(cookieParser(COOKIE_SECRET));
      app.get('/', (req, res) => {
        res.cookie('session', req.cookies.theme ?? '', { signed: true });
        res.json({ hello: 'world' });
      });
    },
    body: (app, { body }) =>
      app.post('/body', async (req, res) => {
        await body(req);
        res.end();
      }),
    query: (app, { query }) =>
      app.get('/query', async (_req, res) => {
        res.json(await query());
      }),
    call: (app, { call }) =>
      app.get('/call', async (req, res) => {
        res.json(await call(req.signal));
      }),
    stream: (app, { chunks }) =>
      app.get('/stream', (_req, res, next) => {
        Readable.from(chunks()).on('error', next).pipe(res);
      }),
    events: (app, { repeat }) =>
      app.get('/events', (_req, res) => {
        res.type('text/event-stream');
        res.on(
          'close',
          repeat(() => res.write('data: tick\n\n')),
        );
      }),
  },
  addOns: {
    connect: (app) => app.use(cors({ origin: [ORIGIN] })),
    cors: (app) => app.use(cors({ origin: [ORIGIN] })),
    etag: (app) => app.enable('etag'),
    forms: (app) => app.use(express.urlencoded({ extended: false })),
    'security-headers': (app) => app.use(helmet()),
    limited: (app) =>
      app.use(
        rateLimit({
          limit: MAX_PER_MINUTE,
          windowMs: 60_000,
          standardHeaders: 'draft-6',
          legacyHeaders: false,
        }),
      ),
  },
  async serve(register) {
    const app = express();
    app.disable('etag');
    app.disable('x-powered-by');
    await register(app);
    return createServer(app);
  },
});

function postUsers(app: Express, read: typeof readUser): void {
  app.use(express.json({ limit: '1mb' }));
  app.post('/users', (req, res) => {
    const user = read(req.body);
    res.status(user ? 201 : 400).json(user ? { data: user } : { error: 'Not a user' });
  });
}
