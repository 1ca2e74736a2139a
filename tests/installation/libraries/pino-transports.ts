import { createApp, errorHandler, listen } from 'fw';
import { pino } from 'pino';

const { LOG_FILE = 'app.log', PORT = 3000 } = process.env;
const transport = pino.transport({
  targets: [
    { target: 'pino/file', options: { destination: 1 } },
    { target: 'pino-pretty', options: { destination: LOG_FILE, colorize: false, sync: true } },
  ],
});
const logger = pino({ redact: ['password'] }, transport);

const app = createApp({ logger }).use(errorHandler());
app.get('/users/:id', (ctx) => {
  ctx.log.info({ user: ctx.params.id, password: 'secret' }, 'read');
  return { id: ctx.params.id };
});
app.get('/fails', () => {
  throw new Error('the store is unavailable');
});

await listen(app, Number(PORT));
