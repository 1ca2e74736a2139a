import cookie from '@fastify/cookie';
import cors from '@fastify/cors';
import etag from '@fastify/etag';
import formbody from '@fastify/formbody';
import helmet from '@fastify/helmet';
import jwt from '@fastify/jwt';
import middie from '@fastify/middie';
import rateLimit from '@fastify/rate-limit';
import { fastifyRequestContext, requestContext } from '@fastify/request-context';
import expressCors from 'cors';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';

import { observe, PRODUCTION_OPTIONS } from '../../services/fastify-observed.ts';
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
  TOKEN,
} from '../workloads.ts';

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

/** Fastify with its compiled router, a response schema per route, and no logger. */
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
  async serve(register, workload) {
    const isObserved = workload === 'observed';
    const app = Fastify(
      isObserved ? PRODUCTION_OPTIONS : { logger: false, routerOptions: { compile: true } },
    );
    await register(app);
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    return Number(new URL(address).port);
  },
});

function responses(status: number, properties: Record<string, unknown>) {
  return { response: { [status]: { type: 'object', properties } } };
}
