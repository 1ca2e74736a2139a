import { json } from '@fw/body-parser';
import { createApp, createRouter, errorHandler, listen, notFoundHandler } from 'fw';

import { escapeHtml } from './escape-html.ts';
import { readPage } from './read-page.ts';
import { UserStore } from './user-store.ts';

const store = new UserStore();
const router = createRouter();

router.get('/', (ctx) => {
  const data = store.list();
  const total = data.length;
  if (ctx.query.page === undefined && ctx.query.limit === undefined) {
    ctx.json({ data, total });
    return;
  }
  const { page, limit, start } = readPage(ctx.query, { defaultLimit: 10 });
  ctx.json({ data: data.slice(start, start + limit), meta: { total, page, limit } });
});

router.get('/:id', (ctx) => {
  const user = store.find(ctx.params.id);
  ctx.append('Vary', 'Accept');
  const accept = ctx.get('accept') ?? 'application/json';
  if (accept.includes('text/html')) {
    ctx.html(
      `<article><h1>${escapeHtml(user.name)}</h1><p>${escapeHtml(user.email)}</p></article>`,
    );
  } else {
    ctx.json({ data: user });
  }
});

router.post('/', (ctx) => {
  ctx.status = 201;
  ctx.json({ data: store.create(ctx.body) });
});

router.put('/:id', (ctx) => {
  ctx.json({ data: store.update(ctx.params.id, ctx.body) });
});

router.delete('/:id', (ctx) => {
  store.delete(ctx.params.id);
  ctx.status = 204;
  ctx.send('');
});

const app = createApp();
app.use(errorHandler({ includeStack: process.env.NODE_ENV !== 'production' }));
app.use(json());
app.route('/api/users', router);
app.use(router.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
