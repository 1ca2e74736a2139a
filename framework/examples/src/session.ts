import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

import { json } from '@fw/body-parser';
import { session } from '@fw/middleware/session';
import { rateLimit } from '@fw/rate-limit';
import { validate } from '@fw/validation';
import {
  createApp,
  createRouter,
  errorHandler,
  listen,
  notFoundHandler,
  UnauthorizedError,
} from 'fw';
import * as z from 'zod';

const sessions = session<{ userId: string }>({ secrets: [process.env.SESSION_SECRET ?? ''] });
const Login = z.object({ user: z.string(), password: z.string().max(1_000) });

/** What a real program would store for each user. */
const salt = randomBytes(16);
const hashOf = (password: string) =>
  promisify(scrypt)(password, salt, 32) as Promise<Buffer<ArrayBuffer>>;
const hashes = new Map([['ada', await hashOf('correct horse')]]);
const noHash = randomBytes(32);

const router = createRouter().group('/', sessions, (group) => {
  group.post(
    '/login',
    // Also counts successful logins: failures count too late to stop guesses that are sent at once.
    rateLimit({ max: 10, name: 'logins' }),
    json(),
    validate({ body: Login }),
    async (ctx) => {
      const { user, password } = ctx.body;
      // For an unknown user too, so that the time does not show who is known.
      const isRight = timingSafeEqual(await hashOf(password), hashes.get(user) ?? noHash);
      if (!isRight) throw new UnauthorizedError('wrong user or password');
      ctx.state.session.set({ userId: user });
    },
  );
  group.get('/me', (ctx) => ctx.state.session.data ?? ctx.throw(401, 'log in first'));
  group.post('/logout', (ctx) => ctx.state.session.end());
});

const app = createApp();
app.use(errorHandler());
app.route('/', router);
app.use(router.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
