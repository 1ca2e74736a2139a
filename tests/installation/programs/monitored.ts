import { createServiceApp, runService, serviceVariables } from '@fw/service';

runService({
  name: 'monitored',
  summary: 'has health checks and metrics',
  variables: serviceVariables({ port: 8084 }),
  start: (_config, runtime) => ({
    app: createServiceApp(runtime).use((ctx) => ctx.json({ hello: 'world' })),
  }),
});
