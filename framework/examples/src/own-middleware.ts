import {
  createApp,
  errorHandler,
  type Guard,
  listen,
  type Middleware,
  notFoundHandler,
  UnauthorizedError,
} from 'fw';

/** Before the others: changes the response. */
const setVersion: Middleware = (ctx, next) => {
  ctx.set('X-Version', '7');
  return next();
};

/** Around the others: what follows `await next()` runs when they have ended, and can still change the response. */
const setDuration: Middleware = async (ctx, next) => {
  const startedMs = performance.now();
  await next();
  ctx.set('Server-Timing', `app;dur=${(performance.now() - startedMs).toFixed(1)}`);
};

/** Instead of the others: an error, or a response without `next()`, ends the chain. */
const refuseWrites: Middleware = (ctx, next) => {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return next();
  ctx.throw(403, 'The notes are read-only');
};

/** With options and a result: checks a key, and gives its owner to the handlers, with its type. */
function apiKey(owners: Readonly<Record<string, string>>): Guard<{ owner: string }> {
  const byKey = new Map(Object.entries(owners));
  return (ctx, next) => {
    const owner = byKey.get(ctx.get('x-api-key') ?? '');
    if (owner === undefined) {
      const headers = { 'WWW-Authenticate': 'ApiKey' };
      throw new UnauthorizedError('X-Api-Key is missing or unknown', { headers });
    }
    ctx.state.owner = owner;
    return next();
  };
}

const app = createApp();
app.use(setVersion, setDuration, errorHandler(), refuseWrites);
app.get('/notes', apiKey({ 'key-1': 'Ada' }), (ctx) => ({ owner: ctx.state.owner }));
app.use(app.allowedMethods(), notFoundHandler());

await listen(app, Number(process.env.PORT ?? 3000));
