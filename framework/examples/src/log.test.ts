import { quiet, recordLog, request } from '@fw/core/testing';
import { createApp, errorHandler, type Logger, ServiceUnavailableError } from 'fw';
import { expect, test } from 'vitest';

/** The application to test; it passes its logger on. */
function createOrdersApp({ logger }: { readonly logger: Logger }) {
  const app = createApp({ logger });
  app.use(errorHandler());
  app.post('/orders/:id', (ctx) => {
    if (ctx.params.id === '0') throw new ServiceUnavailableError('no stock');
    ctx.log.info('sold', { order: ctx.params.id });
  });
  return app;
}

const REQUEST = { method: 'POST', headers: { 'X-Request-Id': 'r-1' } };

test('a sold order is logged', async () => {
  const { logger, entries } = recordLog();

  await request(createOrdersApp({ logger }), '/orders/7', REQUEST);

  const fields = { requestId: 'r-1', route: '/orders/:id', order: '7' };
  expect(entries).toEqual([{ level: 'info', message: 'sold', fields }]);
});

test('a failure is logged with its error', async () => {
  const { logger, problems, errors } = recordLog();

  await request(createOrdersApp({ logger }), '/orders/0', REQUEST);

  expect(problems).toEqual(['error: POST /orders/0 failed with 503']);
  expect(errors).toMatchObject([{ message: 'no stock' }]);
});

test('an order without stock gets 503', async () => {
  const response = await request(createOrdersApp({ logger: quiet }), '/orders/0', REQUEST);

  expect(response.status).toBe(503); // `quiet` prints nothing about it
});
