import { clientKey, rateLimit } from '@fw/rate-limit';
import {
  createApp,
  createRouter,
  errorHandler,
  type Guard,
  listen,
  notFoundHandler,
  UnauthorizedError,
} from 'fw';

const REPORTS = [
  { id: 'revenue', title: 'Revenue by month', isPublic: false },
  { id: 'signups', title: 'New users by week', isPublic: true },
];

/** User ids by token; a real program would verify a signed token. */
const USER_IDS = new Map([
  ['ada-token', 'ada'],
  ['bob-token', 'bob'],
]);

/** Requires a known bearer token, and sets `ctx.state.user`. */
const requireAuth: Guard<{ user: { id: string } }> = (ctx, next) => {
  const [, token = ''] = /^bearer +(\S+)$/i.exec(ctx.get('authorization') ?? '') ?? [];
  const id = USER_IDS.get(token);
  if (id === undefined) {
    throw new UnauthorizedError('a valid bearer token is required', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }
  ctx.state.user = { id };
  return next();
};

const limiter = rateLimit({
  max: 100,
  window: '1m',
  keyGenerator: (ctx) => (ctx.state.user ? `user:${ctx.state.user.id}` : `ip:${clientKey(ctx.ip)}`),
});

const router = createRouter();
router.get('/', requireAuth, limiter, (ctx) => {
  ctx.json({ reports: REPORTS });
});
router.get('/public', limiter, (ctx) => {
  ctx.json({ reports: REPORTS.filter(({ isPublic }) => isPublic) });
});

const app = createApp();
app.use(errorHandler());
app.route('/api/reports', router);
app.use(router.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
