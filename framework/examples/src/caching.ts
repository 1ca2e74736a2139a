import { etag } from '@fw/middleware/etag';
import {
  createApp,
  createRouter,
  errorHandler,
  listen,
  type Middleware,
  notFoundHandler,
} from 'fw';

/** Lets clients and proxies keep a response; after `seconds` they ask whether it is still current. */
function maxAge(seconds: number): Middleware {
  return (ctx, next) => {
    ctx.set('Cache-Control', `public, max-age=${seconds}`);
    return next();
  };
}

/** Returns a function that calls `read` at most once per `ttlMs`; concurrent callers share one call. */
function cached<T>(read: () => Promise<T>, ttlMs: number): () => Promise<T> {
  let running: Promise<T> | undefined;
  let endMs = 0;
  return () => {
    if (running && performance.now() < endMs) return running;
    endMs = performance.now() + ttlMs;
    const started = read();
    running = started;
    // A failure is not kept.
    started.catch(() => {
      if (running === started) running = undefined;
    });
    return started;
  };
}

let reads = 0;
const readRates = cached(
  async () => ({ reads: ++reads, base: 'EUR', rates: { USD: 1.1 } }),
  60_000,
);

const router = createRouter();
router.get('/rates', maxAge(60), () => readRates());
router.get('/me', (ctx) => {
  ctx.set('Cache-Control', 'private, no-store'); // the response of one user must not reach another
  return { name: 'Ada' };
});

const app = createApp();
app.use(errorHandler(), etag()); // 304 for a client that has the current response
app.route('/', router);
app.use(router.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
