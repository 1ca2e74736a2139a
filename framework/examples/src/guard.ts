import {
  createApp,
  createRouter,
  errorHandler,
  listen,
  type Middleware,
  notFoundHandler,
} from 'fw';

/** Requires an `Authorization` header with any value. */
const requireAuthorization: Middleware = (ctx, next) => {
  if (ctx.get('authorization')) return next();
  ctx.status = 401;
  ctx.json({ error: 'Authorization header is required' });
};

const router = createRouter();
router.get('/health', (ctx) => ctx.json({ status: 'ok' }));
router.group('/admin', [requireAuthorization], (admin) => {
  admin.get('/stats', (ctx) => ctx.json({ users: 2 }));
  admin.group('/users', (users) => {
    users.get('/:id', (ctx) => ctx.json({ id: ctx.params.id }));
  });
});

const app = createApp();
app.use(errorHandler());
app.route('/api', router);
app.use(router.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
