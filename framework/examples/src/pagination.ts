import { createApp, errorHandler, listen, notFoundHandler } from 'fw';

import { readPage } from './read-page.ts';

const users = Array.from({ length: 45 }, (_, at) => ({ id: at + 1, name: `User ${at + 1}` }));

const app = createApp();
app.use(errorHandler());
app.get('/users', (ctx) => {
  const { page, limit, start } = readPage(ctx.query, { defaultLimit: 20 });
  const total = users.length;
  const totalPages = Math.ceil(total / limit);
  ctx.json({
    items: users.slice(start, start + limit),
    page,
    limit,
    total,
    totalPages,
    hasNextPage: page < totalPages,
  });
});
app.use(app.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
