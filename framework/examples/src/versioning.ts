import { createApp, createRouter, errorHandler, listen, notFoundHandler } from 'fw';

// Users: a router for each version, mounted at its prefix.
const usersV1 = createRouter();
usersV1.get('/users/:id', (ctx) => ctx.json({ id: ctx.params.id, name: 'Ada Lovelace' }));

const usersV2 = createRouter();
usersV2.get('/users/:id', (ctx) => {
  ctx.json({ data: { id: ctx.params.id, givenName: 'Ada', familyName: 'Lovelace' } });
});

// Books: one router with a group for each version; the prefixes of nested groups concatenate.
const books = createRouter();
books.group('/api', (api) => {
  api.group('/v1', (v1) => {
    v1.get('/books', (ctx) => ctx.json(['Notes by the Translator']));
  });
  api.group('/v2', (v2) => {
    v2.get('/books', (ctx) => ctx.json({ data: [{ title: 'Notes by the Translator' }] }));
  });
});

const app = createApp();
app.use(errorHandler());
app.route('/api/v1', usersV1);
app.route('/api/v2', usersV2);
app.route('/', books);
for (const router of [usersV1, usersV2, books]) app.use(router.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
