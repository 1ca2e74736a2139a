import type { Readable } from 'node:stream';
import compress from '@fastify/compress';
import fastifyStatic from '@fastify/static';
import Fastify, { type FastifyInstance } from 'fastify';

import type { Contestant } from '../contestant.ts';
import { countBytes, type Store, sum, totals } from '../items.ts';

interface Route {
  Params: { count: string; id: string };
  Querystring: Record<string, string>;
}

export const contestant: Contestant = {
  packages: ['fastify', '@fastify/compress', '@fastify/static'],
  async start({ store, folder, tls }) {
    const options = { routerOptions: { compile: true } };
    const app = (tls ? Fastify({ ...options, https: tls }) : Fastify(options)) as FastifyInstance;
    app.addContentTypeParser('application/octet-stream', (_request, body, done) => {
      done(null, body);
    });
    await app.register(fastifyStatic, {
      root: `${folder}/static`,
      prefix: '/static/',
      preCompressed: true,
    });
    app.get('/pipeline', (_request, reply) => reply.send('ok'));
    app.get<Route>('/baseline11', ({ query }, reply) => reply.send(sum(query)));
    app.post<Route>('/baseline11', ({ query, body }, reply) => reply.send(sum(query, body)));
    app.post<{ Body: Readable }>('/upload', ({ body }) => countBytes(body));
    app.get<Route>('/async-db', ({ query }) => store.between(query));
    await app.register(async (scope) => {
      await scope.register(compress);
      scope.get<Route>('/json/:count', ({ params, query }, reply) =>
        reply.send(totals(params.count, query)),
      );
    });
    await app.register(crud, { prefix: '/crud/items', store });
    return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
  },
};

async function crud(app: FastifyInstance, { store }: { readonly store: Store }): Promise<void> {
  app.get<Route>('/', ({ query }) => store.list(query));
  app.get<Route>('/:id', async ({ params }, reply) => {
    const { item, cached } = await store.find(Number(params.id));
    if (!item) return reply.callNotFound();
    return reply.header('X-Cache', cached).send(item);
  });
  app.post('/', async ({ body }, reply) => reply.code(201).send(await store.create(body)));
  app.put<Route>('/:id', async ({ params, body }, reply) => {
    return (await store.update(Number(params.id), body)) ?? reply.callNotFound();
  });
}
