import { createLogger, createServiceApp, runService, serviceVariables } from '@fw/service';
import { pino } from 'pino';

const output = pino.transport({
  target: 'pino-pretty',
  options: { colorize: false, messageKey: 'message' },
});

await runService({
  name: 'users',
  summary: 'reads users',
  variables: serviceVariables({ port: 8084 }),
  start(_config, runtime) {
    const app = createServiceApp({ ...runtime, logger: createLogger('users', { output }) });
    app.get('/users/:id', (ctx) => {
      ctx.log.info('read', { user: ctx.params.id });
      return { id: ctx.params.id };
    });
    return { app };
  },
});
