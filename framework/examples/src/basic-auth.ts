import { basicAuth } from '@fw/middleware/basic-auth';
import { createApp, createRouter, errorHandler, listen, notFoundHandler } from 'fw';

const staff = basicAuth({ users: { ada: process.env.ADA_PASSWORD ?? '' }, realm: 'Staff' });

const router = createRouter();
router.get('/', () => 'Anyone may read this page');
router.get('/admin', staff, (ctx) => `Hello, ${ctx.state.user.id}`);

const app = createApp();
app.use(errorHandler());
app.route('/', router);
app.use(router.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
