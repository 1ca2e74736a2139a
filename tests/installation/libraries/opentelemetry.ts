import { context, trace } from '@opentelemetry/api';
import { getRPCMetadata } from '@opentelemetry/core';
import { createApp, errorHandler, listen, type Middleware } from 'fw';

const { PORT = 3000, PRICES_URL = '' } = process.env;

const nameSpan: Middleware = async (ctx, next) => {
  const metadata = getRPCMetadata(context.active());
  await next();
  if (metadata && ctx.route) metadata.route = ctx.route.path;
};

const app = createApp({
  logFields: () => ({ traceId: trace.getActiveSpan()?.spanContext().traceId }),
});
app.use(nameSpan, errorHandler());
app.get('/prices/:id', async (ctx) => {
  const response = await fetch(PRICES_URL);
  ctx.log.info('read a price', { status: response.status });
  return { id: ctx.params.id };
});
app.get('/fails', () => {
  throw new Error('the store is unavailable');
});

await listen(app, Number(PORT));
