import { readPage } from '@fw/service';
import { createRouter, NotFoundError, type Query, type Router } from 'fw';

import { userFragment } from './html.ts';
import { readNewUser, readUserChanges } from './schemas.ts';
import type { UserStore } from './store.ts';
import { createUser, type Origins, type User } from './user.ts';

/** The first version of the API, whose shapes never change. */
export function userRoutes(store: UserStore, origins: Origins): Router {
  const router = createRouter();

  router.get('/', async (ctx) => {
    ctx.json(isPaged(ctx.query) ? await listPage(store, ctx.query) : await listAll(store));
  });

  router.get('/:id', async (ctx) => {
    ctx.append('Vary', 'Accept');
    const user = found(await store.find(ctx.params.id), ctx.params.id);
    if (acceptsHtml(ctx.get('accept'))) ctx.html(userFragment(user));
    else ctx.json({ data: user });
  });

  router.post('/', async (ctx) => {
    const user = createUser(readNewUser(ctx.body), origins);
    await store.insert(user);
    ctx.status = 201;
    ctx.json({ data: user });
  });

  router.put('/:id', async (ctx) => {
    const changes = readUserChanges(ctx.body);
    const user = await store.update(ctx.params.id, changes, origins.now());
    ctx.json({ data: found(user, ctx.params.id) });
  });

  router.delete('/:id', async (ctx) => {
    if (!(await store.delete(ctx.params.id))) throw unknownUser(ctx.params.id);
    ctx.status = 204;
    ctx.send('');
  });

  return router;
}

function isPaged(query: Query): boolean {
  return query.page !== undefined || query.limit !== undefined;
}

async function listAll(store: UserStore) {
  const { users, total } = await store.list();
  return { data: users, total };
}

async function listPage(store: UserStore, query: Query) {
  const { page, limit, start } = readPage(query, { defaultLimit: 10 });
  const { users, total } = await store.list({ start, limit });
  return { data: users, meta: { total, page, limit } };
}

/** Every browser sends `text/html`, so whatever else is in there counts for less. */
function acceptsHtml(accept = 'application/json'): boolean {
  return accept.toLowerCase().includes('text/html');
}

function found(user: User | undefined, id: string): User {
  if (!user) throw unknownUser(id);
  return user;
}

function unknownUser(id: string): NotFoundError {
  return new NotFoundError(`User "${id}" not found`);
}
