import { Readable } from 'node:stream';
import cookie from '@fastify/cookie';
import cors from '@fastify/cors';
import etag from '@fastify/etag';
import formbody from '@fastify/formbody';
import helmet from '@fastify/helmet';
import jwt from '@fastify/jwt';
import middie from '@fastify/middie';
import rateLimit from '@fastify/rate-limit';
import { fastifyRequestContext, requestContext } from '@fastify/request-context';
import serveStatic from '@fastify/static';
import websocket from '@fastify/websocket';
import expressCors from 'cors';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { defineContestant } from '../contestant.ts';
import {
  COOKIE_SECRET,
  findUser,
  ITEM_SCHEMA,
  ITEMS,
  MAX_PER_MINUTE,
  MIDDLEWARES,
  ORIGIN,
  PAGE,
  RESOURCES,
  ROWS,
  readUser,
  SERVICES_FOLDER,
  TOKEN,
} from '../http/workloads.ts';
import { observe, PRODUCTION_OPTIONS } from '../services/fastify-observed.ts';
import { countBytes } from '../work.ts';

declare module 'fastify' {
  interface FastifyRequest {
    count: number;
  }
}

declare module '@fastify/request-context' {
  interface RequestContextData {
    request: FastifyRequest;
  }
}

const text = { type: 'string' } as const;
const someText = { type: 'string', minLength: 1 } as const;
const user = { type: 'object', properties: { name: text, email: text, role: text } };
const helloSchema = responses(200, { hello: text });
const itemsSchema = responses(200, { data: { type: 'array', items: ITEM_SCHEMA } });

/** Fastify with its compiled router, a response schema per route, no logger, and `request.signal`. */
export const contestant = defineContestant<FastifyInstance>({
  packages: [
    'fastify',
    '@fastify/rate-limit',
    'pino',
    'prom-client',
    '@fastify/cookie',
    '@fastify/cors',
    '@fastify/etag',
    '@fastify/formbody',
    '@fastify/helmet',
    '@fastify/jwt',
    '@fastify/middie',
    '@fastify/request-context',
    '@fastify/static',
    '@fastify/websocket',
  ],
  routes: {
    hello: (app) =>
      app.get('/', { schema: helloSchema }, (_request, reply) => {
        reply.send({ hello: 'world' });
      }),
    parameter: (app) => {
      for (const resource of RESOURCES) {
        app.get<{ Params: { id: string } }>(
          `/api/v1/${resource}/:id`,
          { schema: responses(200, { resource: text, id: text }) },
          (request, reply) => {
            reply.send({ resource, id: request.params.id });
          },
        );
      }
    },
    post: (app) =>
      app.post('/users', { schema: responses(201, { data: user }) }, (request, reply) => {
        const data = readUser(request.body);
        if (!data) return reply.code(400).send({ error: 'Not a user' });
        return reply.code(201).send({ data });
      }),
    list: (app) =>
      app.get('/items', { schema: itemsSchema }, (_request, reply) => {
        reply.send({ data: ITEMS });
      }),
    middlewares: (app) => {
      app.decorateRequest('count', 0);
      for (let step = 0; step < MIDDLEWARES; step++) {
        app.addHook('onRequest', (request, _reply, done) => {
          request.count += 1;
          done();
        });
      }
      const schema = responses(200, { count: { type: 'integer' } });
      app.get('/', { schema }, (request, reply) => {
        reply.send({ count: request.count });
      });
    },
    upload: (app) =>
      app.post<{ Body: Readable }>(
        '/upload',
        { schema: responses(200, { bytes: { type: 'integer' } }) },
        async ({ body }) => ({ bytes: await countBytes(body) }),
      ),
    static: (app) => app.register(serveStatic, { root: SERVICES_FOLDER, prefix: '/services/' }),
    user: (app) =>
      app.get<{ Params: { id: string } }>(
        '/api/v1/users/:id',
        { schema: responses(200, { id: text, name: text }) },
        (request, reply) => {
          reply.send(findUser(request.params.id));
        },
      ),
    item: (app) =>
      app.get('/item', (_request, reply) => {
        reply.send(PAGE[0]);
      }),
    page: (app) =>
      app.get('/items', (_request, reply) => {
        reply.send({ data: PAGE });
      }),
    'item-contract': (app) =>
      app.get('/item', { schema: { response: { 200: ITEM_SCHEMA } } }, (_request, reply) => {
        reply.send(ROWS[0]);
      }),
    'page-contract': (app) =>
      app.get('/items', { schema: itemsSchema }, (_request, reply) => {
        reply.send({ data: ROWS });
      }),
    validated: (app) => {
      const body = {
        type: 'object',
        properties: { name: someText, email: someText, role: someText },
        required: ['name', 'email', 'role'],
        additionalProperties: false,
      };
      const schema = { body, ...responses(201, { data: user }) };
      app.post('/users', { schema }, (request, reply) => {
        reply.code(201).send({ data: request.body });
      });
    },
    cookies: async (app) => {
      await app.register(cookie, { secret: COOKIE_SECRET });
      app.get('/', { schema: helloSchema }, (request, reply) => {
        reply.setCookie('session', request.cookies.theme ?? '', { signed: true });
        reply.send({ hello: 'world' });
      });
    },
    'request-context': async (app) => {
      await app.register(fastifyRequestContext);
      app.addHook('onRequest', (request, _reply, done) => {
        requestContext.set('request', request);
        done();
      });
      app.get('/', { schema: helloSchema }, (_request, reply) => {
        reply.send({ hello: requestContext.get('request') ? 'world' : 'none' });
      });
    },
    body: (app, { body }) =>
      app.post<{ Body: Readable }>('/body', async (request) => body(request.body)),
    query: (app, { query }) => app.get('/query', async () => query()),
    call: (app, { call }) => app.get('/call', async ({ signal }) => call(signal)),
    stream: (app, { chunks }) =>
      app.get('/stream', (_request, reply) => reply.send(Readable.from(chunks()))),
    events: (app, { events }) =>
      app.get('/events', ({ signal }, reply) =>
        reply.type('text/event-stream').send(Readable.from(events('data: tick\n\n', signal))),
      ),
    websocket: async (app, { opened, closed }) => {
      await app.register(websocket);
      app.get('/websocket', { websocket: true }, (socket) => {
        opened();
        socket.on('close', closed).on('message', (data) => socket.send(String(data)));
      });
    },
  },
  addOns: {
    limited: (app) =>
      app.register(rateLimit, { max: MAX_PER_MINUTE, timeWindow: 60_000, enableDraftSpec: true }),
    observed: observe,
    'bearer-token': async (app) => {
      const { secret, issuer, audience } = TOKEN;
      const verify = { algorithms: ['HS256' as const], allowedIss: issuer, allowedAud: audience };
      await app.register(jwt, { secret, verify });
      app.addHook('onRequest', (request) => request.jwtVerify());
    },
    connect: async (app) => {
      await app.register(middie);
      app.use(expressCors({ origin: [ORIGIN] }));
    },
    cors: (app) => app.register(cors, { origin: [ORIGIN] }),
    etag: (app) => app.register(etag),
    forms: (app) => app.register(formbody),
    'security-headers': (app) => app.register(helmet),
  },
  async serve(register, routes) {
    const isObserved = routes.includes('observed');
    const app = Fastify(
      isObserved ? PRODUCTION_OPTIONS : { logger: false, routerOptions: { compile: true } },
    );
    app.addContentTypeParser('application/octet-stream', (_request, body, done) => {
      done(null, body);
    });
    await register(app);
    await app.listen({ port: 0, host: '127.0.0.1' });
    return app.server;
  },
});

function responses(status: number, properties: Record<string, unknown>) {
  return { response: { [status]: { type: 'object', properties } } };
}
