import { createServer, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { json as readJson } from 'node:stream/consumers';
import { setInterval as everyInterval } from 'node:timers/promises';

import { json } from '@fw/body-parser';
import { sse } from '@fw/middleware/sse';
import { createAdaptorServer } from '@hono/node-server';
import { bodyParser } from '@koa/bodyparser';
import KoaRouter from '@koa/router';
import express from 'express';
import Fastify from 'fastify';
import { createApp, createRouter, errorHandler, listen, notFoundHandler } from 'fw';
import { createEventStream, H3, readBody, serve } from 'h3/node';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import Koa from 'koa';

import { ITEMS } from '../http/workloads.ts';

const HELLO = { hello: 'world' };
const LIST = { data: ITEMS };
const LIMIT_BYTES = 1024 ** 2;
const EVENT_MS = 5_000;
const EVENT = 'tick';

/** `event` immediately, then once per interval. */
async function* ticks<Event>(event: Event, signal: AbortSignal) {
  yield event;
  for await (const _ of everyInterval(EVENT_MS, undefined, { signal })) yield event;
}

/** The text of events as a stream, which stops its timer when it is destroyed. */
function eventText(): Readable {
  const abort = new AbortController();
  const text = ticks(`data: ${EVENT}\n\n`, abort.signal);
  return Readable.from(text).on('close', () => abort.abort());
}

function sendEvents(res: ServerResponse): void {
  const send = () => res.write(`data: ${EVENT}\n\n`);
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  send();
  const timer = setInterval(send, EVENT_MS);
  res.on('close', () => clearInterval(timer));
}

function sendJson(res: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  const length = Buffer.byteLength(body);
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': length }).end(body);
}

/** Servers with the routes `GET /`, `GET /items`, `GET /events` and `POST /users`, which sends the body back. */
export const CONTESTANTS: Readonly<Record<string, () => Promise<Server> | Server>> = {
  raw: () =>
    createServer(async (req, res) => {
      if (req.url === '/events') sendEvents(res);
      else if (req.url === '/items') sendJson(res, 200, LIST);
      else if (req.method === 'GET') sendJson(res, 200, HELLO);
      else sendJson(res, 201, await readJson(req));
    }),

  async fw() {
    const router = createRouter()
      .get('/', () => HELLO)
      .get('/items', () => LIST)
      .post('/users', (ctx) => {
        ctx.status = 201;
        ctx.json(ctx.body);
      });
    const events = sse((_ctx, { signal }) => ticks({ data: EVENT }, signal), {
      maxClients: 100_000,
    });
    const app = createApp({ logger: { info() {}, warn() {}, error() {} } });
    app.use(errorHandler()).use(json()).route('/', router.get('/events', events));
    app.use(router.allowedMethods()).use(notFoundHandler());
    return (await listen(app, 0)).server;
  },

  async fastify() {
    const app = Fastify();
    app.get('/', () => HELLO);
    app.get('/items', () => LIST);
    app.get('/events', (_request, reply) => reply.type('text/event-stream').send(eventText()));
    app.post('/users', (request, reply) => reply.code(201).send(request.body));
    await app.listen({ port: 0, host: '127.0.0.1' });
    return app.server;
  },

  hono() {
    const app = new Hono();
    app.get('/', (c) => c.json(HELLO));
    app.get('/items', (c) => c.json(LIST));
    app.get('/events', (c) =>
      streamSSE(c, async (stream) => {
        while (!stream.aborted) {
          await stream.writeSSE({ data: EVENT });
          await stream.sleep(EVENT_MS);
        }
      }),
    );
    app.post('/users', async (c) => c.json(await c.req.json(), 201));
    return createAdaptorServer({ fetch: app.fetch }) as Server;
  },

  async h3() {
    const app = new H3();
    app.get('/', () => HELLO);
    app.get('/items', () => LIST);
    app.get('/events', (event) => {
      const stream = createEventStream(event);
      const send = () => stream.push(EVENT);
      const timer = setInterval(send, EVENT_MS);
      stream.onClosed(() => clearInterval(timer));
      send();
      return stream.send();
    });
    app.post('/users', async (event) => {
      event.res.status = 201;
      return readBody(event);
    });
    const options = { port: 0, hostname: '127.0.0.1', silent: true };
    return (await serve(app, options).ready()).node?.server as Server;
  },

  koa() {
    const app = new Koa();
    const router = new KoaRouter();
    router.get('/', (ctx) => {
      ctx.body = HELLO;
    });
    router.get('/items', (ctx) => {
      ctx.body = LIST;
    });
    router.get('/events', (ctx) => {
      ctx.type = 'text/event-stream';
      ctx.body = eventText();
    });
    router.post('/users', (ctx) => {
      ctx.status = 201;
      ctx.body = ctx.request.body;
    });
    app.use(bodyParser({ jsonLimit: LIMIT_BYTES })).use(router.routes());
    return createServer(app.callback());
  },

  express() {
    const app = express();
    app.use(express.json({ limit: LIMIT_BYTES }));
    app.get('/', (_req, res) => void res.json(HELLO));
    app.get('/items', (_req, res) => void res.json(LIST));
    app.get('/events', (_req, res) => sendEvents(res));
    app.post('/users', (req, res) => void res.status(201).json(req.body));
    return createServer(app);
  },
};
