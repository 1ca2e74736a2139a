/*
 * The measured endpoints of one service, written on fastify: `node fastify.ts <service>`. It reads the
 * environment variables of the service and uses the service's own store, so that the frameworks differ
 * and nothing else does.
 */
import { createSecretKey } from 'node:crypto';

import rateLimit from '@fastify/rate-limit';
import { VARIABLES as CATALOG_VARIABLES } from '@fw/catalog/src/config.ts';
import { ItemPageV1, ItemResponse } from '@fw/catalog/src/schemas.ts';
import { openStore as openCatalog } from '@fw/catalog/src/store/open.ts';
import { ReportList } from '@fw/reports/src/schemas.ts';
import { readConfig } from '@fw/service';
import { VARIABLES as USERS_VARIABLES } from '@fw/users/src/config.ts';
import { UserV1 } from '@fw/users/src/schemas.ts';
import { openStore as openUsers } from '@fw/users/src/store/open.ts';
import Fastify, { type FastifyInstance } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { jwtVerify } from 'jose';
import * as z from 'zod';

import { observe, PRODUCTION_OPTIONS } from './fastify-observed.ts';

/** The contract of a response: fastify removes all other fields, as endpoint() of fw does. */
function responses(status: number, schema: z.ZodType) {
  return { [status]: z.toJSONSchema(schema) };
}

const NewUser = z.object({
  name: z.string().min(1).max(200),
  email: z.string().min(1).max(254),
});
const Page = z.object({
  page: z.coerce.number().int().min(1).default(1),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

const ROUTES: Readonly<Record<string, (app: FastifyInstance) => Promise<void>>> = {
  users: async (plain) => {
    const app = plain.withTypeProvider<ZodTypeProvider>();
    const store = await openUsers(readConfig(USERS_VARIABLES, process.env));
    const params = z.object({ id: z.string() });
    const one = responses(200, z.object({ data: UserV1 }));
    app.get('/api/v1/users/:id', { schema: { params, response: one } }, async (request, reply) => {
      announceSuccessor(reply, request.url);
      reply.header('vary', 'Accept');
      const user = await store.find(request.params.id);
      if (!user) return reply.code(404).send({ message: 'not found' });
      if (!request.headers.accept?.includes('text/html')) return { data: user };
      const { name, email, createdAt, updatedAt } = user;
      return reply.type('text/html; charset=utf-8').send(`<article>
  <h1>${escapeHtml(name)}</h1>
  <p>${escapeHtml(email)}</p>
  <p>Created <time>${createdAt.toISOString()}</time>, updated <time>${updatedAt.toISOString()}</time></p>
</article>
`);
    });
    const created = responses(201, z.object({ data: UserV1 }));
    app.post(
      '/api/v1/users',
      { schema: { body: NewUser, response: created } },
      async (request, reply) => {
        announceSuccessor(reply, request.url);
        const now = new Date();
        const times = { createdAt: now, updatedAt: now };
        const user = { id: crypto.randomUUID(), ...request.body, ...times, version: 1 };
        await store.insert(user);
        return reply.code(201).send({ data: user });
      },
    );
  },

  catalog: async (plain) => {
    const app = plain.withTypeProvider<ZodTypeProvider>();
    const store = await openCatalog(readConfig(CATALOG_VARIABLES, process.env));
    const page = responses(200, ItemPageV1);
    app.get(
      '/api/v1/catalog',
      { schema: { querystring: Page, response: page } },
      async (request, reply) => {
        announceSuccessor(reply, request.url);
        const { page, limit } = request.query;
        const { items, total } = await store.list({ start: (page - 1) * limit, limit });
        const totalPages = Math.ceil(total / limit);
        return { items, page, limit, total, totalPages, hasNextPage: page < totalPages };
      },
    );
    const params = z.object({ id: z.coerce.number().int().min(1) });
    const one = responses(200, ItemResponse);
    app.get(
      '/api/v2/catalog/:id',
      { schema: { params, response: one } },
      async (request, reply) => {
        const { version, value } = await store.find(request.params.id);
        if (!value) return reply.code(404).send({ message: 'not found' });
        reply.header('vary', 'Accept').header('cache-control', 'public, max-age=60');
        reply.header('etag', `"${version}"`);
        return { data: value };
      },
    );
  },

  reports: async (app) => {
    const key = createSecretKey(process.env.JWT_SECRET ?? '', 'utf8').toCryptoKey(
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['verify'],
    );
    app.decorateRequest('userId', '');
    app.addHook('onRequest', async (request) => {
      const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
      const { payload } = await jwtVerify(token, key, { issuer: 'fw', audience: 'reports' });
      request.userId = payload.sub ?? '';
    });
    await app.register(rateLimit, {
      max: 1_000_000,
      timeWindow: 60_000,
      enableDraftSpec: true,
      hook: 'preHandler',
      keyGenerator: ({ userId }) => `user:${userId}`,
    });
    const { REPORT_KINDS } = await import('@fw/reports/src/report-kinds.ts');
    const data = REPORT_KINDS.map(({ id, title, description }) => {
      const types = ['application/json', 'text/csv', 'text/html'];
      const links = types.map((type) => ({ href: `/api/v2/reports/${id}`, type }));
      return { id, title, description, links };
    });
    const response = responses(200, ReportList);
    app.get('/api/v2/reports', { schema: { response } }, async (_request, reply) => {
      reply.header('vary', 'Accept').header('cache-control', 'private, no-cache');
      return { data, meta: { total: data.length } };
    });
  },
};

declare module 'fastify' {
  interface FastifyRequest {
    userId: string;
  }
}

/** The headers of deprecated version 1 (RFC 9745). */
function announceSuccessor(reply: { header(name: string, value: string): unknown }, url: string) {
  const [path = ''] = url.split('?');
  reply.header('deprecation', '@1796083200');
  reply.header('link', `<${path.replace('/v1/', '/v2/')}>; rel="successor-version"`);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const [service = ''] = process.argv.slice(2);
const routes = ROUTES[service];
if (!routes) throw new RangeError(`Cannot serve "${service}": expected ${Object.keys(ROUTES)}`);
const app = Fastify({ ...PRODUCTION_OPTIONS, trustProxy: true });
app.setValidatorCompiler(validatorCompiler);
observe(app);
app.addHook('onRequest', (_request, reply, done) => {
  reply.header('cache-control', 'no-store');
  done();
});
await app.register(routes);
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
