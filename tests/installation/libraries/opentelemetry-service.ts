import { createServiceApp, runService, serviceVariables } from '@fw/service';

const { PRICES_URL = '' } = process.env;

await runService({
  name: 'prices',
  summary: 'reads prices',
  variables: serviceVariables({ port: 8084 }),
  start(_config, runtime) {
    const app = createServiceApp({ ...runtime, tracing: undefined });
    app.get('/prices/:id', async (ctx) => {
      const response = await fetch(PRICES_URL);
      return { id: ctx.params.id, status: response.status };
    });
    return { app };
  },
});
