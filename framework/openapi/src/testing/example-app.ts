import { json } from '@fw/body-parser';
import { quiet } from '@fw/core/testing';
import { rateLimit } from '@fw/rate-limit';
import { validate } from '@fw/validation';
import {
  type Application,
  createApp,
  createRouter,
  endpoint,
  errorHandler,
  type Middleware,
  NotFoundError,
  notFoundHandler,
  type Router,
  UnauthorizedError,
} from 'fw';
import { z } from 'zod';

import { type OpenApiOptions, openapi } from '../index.ts';

const User = z
  .object({
    id: z.string(),
    name: z.string().describe('As the person writes it'),
    email: z.email(),
    role: z.enum(['admin', 'member']),
    address: z.object({ street: z.string(), city: z.string() }).optional(),
    createdAt: z.iso.datetime(),
    get manager() {
      return User.optional();
    },
  })
  .meta({ id: 'User' });

const NewUser = z.object({
  name: z.string().min(1).max(200).describe('As the person writes it'),
  email: z.email().describe('Unique, ignoring case'),
  role: z.enum(['admin', 'member']).default('member'),
});

const ListQuery = z.object({
  page: z.coerce.number().int().min(1).default(1).describe('Which page, from 1 on'),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  role: z.enum(['admin', 'member']).optional(),
});

const ada = {
  id: '42',
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  role: 'admin',
  createdAt: '2026-01-31T12:00:00Z',
} as const;

const requireToken: Middleware = (ctx, next) => {
  if (ctx.get('authorization') !== 'Bearer secret') throw new UnauthorizedError('Send a token');
  return next();
};
const security = [{ bearerAuth: [] }];

function userRoutes(): Router {
  const tags = ['Users'];
  const router = createRouter();
  router.get(
    '/',
    endpoint({
      summary: 'List users',
      description:
        'All users, the newest first. Pages are cut by `page` and `limit`.\n\n- a page past the end is **empty**\n- `total` counts all of them',
      tags,
      responses: { 200: z.object({ data: z.array(User), total: z.int(), query: ListQuery }) },
    }),
    validate({ query: ListQuery }),
    rateLimit(),
    (ctx) => ctx.json({ data: [ada], total: 1, query: ctx.query }),
  );
  router.post(
    '/',
    endpoint({
      summary: 'Create a user',
      tags,
      security,
      responses: { 201: z.object({ data: User }) },
      errors: { 409: { EMAIL_TAKEN: z.object({ email: z.email() }), FROZEN: true } },
    }),
    requireToken,
    rateLimit({ headers: 'draft-10' }),
    validate({ body: NewUser }),
    (ctx) => {
      ctx.status = 201;
      return ctx.json({ data: { ...ada, ...ctx.body } });
    },
  );
  router.get(
    '/:id',
    endpoint({ summary: 'Read a user', tags, responses: { 200: z.object({ data: User }) } }),
    (ctx) => {
      if (ctx.params.id !== ada.id) throw new NotFoundError(`User "${ctx.params.id}" not found`);
      return ctx.json({ data: ada });
    },
  );
  router.put(
    '/:id',
    endpoint({
      summary: 'Replace a user',
      description: 'Create one anew: see [RFC 9110](https://www.rfc-editor.org/rfc/rfc9110).',
      tags,
      deprecated: true,
    }),
    validate({ body: NewUser }, { status: 422 }),
    (ctx) => ctx.json({ data: { ...ada, ...ctx.body } }),
  );
  router.delete(
    '/:id',
    endpoint({ summary: 'Delete a user', tags, security, responses: { 204: undefined } }),
    requireToken,
    (ctx) => ctx.send(''),
  );
  return router;
}

function fileRoutes(): Router {
  const tags = ['Files'];
  return createRouter()
    .get('/*', endpoint({ summary: 'Download a file', tags }), (ctx) =>
      ctx.send(`The text of ${ctx.params['*']}`),
    )
    .query(
      '/',
      endpoint({ summary: 'Search files', tags }),
      validate({ body: z.object({ text: z.string() }) }),
      (ctx) => ctx.json({ found: [ctx.body.text] }),
    );
}

/** An API with most features of a document, with prefixes, groups and mounted routers. */
export function createExampleApp(options: Partial<OpenApiOptions> = {}): Application {
  const router = createRouter({ prefix: '/api' });
  router.group('/v1', (v1) => {
    v1.mount('/users', userRoutes()).mount('/files', fileRoutes());
    v1.get('/catalog/items', (ctx) => ctx.json([]));
    v1.get('/catalog/items/:id', (ctx) => ctx.json({}));
  });
  return createApp({ logger: quiet })
    .use(errorHandler(), json())
    .use(
      openapi({
        router,
        info: {
          title: 'Users and files',
          version: '2.1.0',
          description:
            'Users and their files.\n\nEvery response is **JSON** unless documented otherwise. Times are in UTC (RFC 3339).',
          license: { name: 'MIT', identifier: 'MIT' },
        },
        ...options,
      }),
    )
    .use(router.routes(), router.allowedMethods(), notFoundHandler());
}
