import { createApp, createRouter, errorHandler, listen, notFoundHandler } from 'fw';

const app = createApp();
app.use(errorHandler());
app.route(
  '/',
  createRouter().get('/', (ctx) => ctx.json({ hello: 'world' })),
);
app.use(notFoundHandler());
// Not awaited, because a CommonJS bundle has no top-level await.
void listen(app, { port: Number(process.argv[2]), host: '127.0.0.1' });
