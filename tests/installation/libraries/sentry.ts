import * as Sentry from '@sentry/node';
import { createApp, errorHandler, type Logger, listen } from 'fw';

Sentry.init({ dsn: process.env.SENTRY_DSN ?? '' });

const logger: Logger = {
  info: console.info,
  warn: console.warn,
  error(message, error, fields) {
    console.error(message, error, fields);
    Sentry.captureException(error ?? new Error(message), { extra: { message, ...fields } });
  },
};

const app = createApp({ logger }).use(errorHandler());
app.get('/users/:id', (ctx) => ctx.throw(404, `User "${ctx.params.id}" not found`));
app.get('/orders/:id', () => {
  throw new Error('the store is unavailable');
});

await listen(app, Number(process.env.PORT ?? 3000));
