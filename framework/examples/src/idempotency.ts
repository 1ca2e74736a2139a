import { json } from '@fw/body-parser';
import { idempotency, memoryStore } from '@fw/middleware/idempotency';
import { validate } from '@fw/validation';
import { createApp, createRouter, errorHandler, listen, notFoundHandler } from 'fw';
import { z } from 'zod';

const NewPayment = z.object({ amount: z.int().positive() });
const payments: { id: number; amount: number }[] = [];

const router = createRouter();
router.get('/', () => ({ payments }));
router.post(
  '/',
  json(),
  validate(NewPayment),
  idempotency({ store: memoryStore(), required: true }),
  (ctx) => {
    const payment = { id: payments.length + 1, amount: ctx.body.amount };
    payments.push(payment);
    ctx.status = 201;
    ctx.set('Location', `/payments/${payment.id}`);
    return payment;
  },
);

const app = createApp();
app.use(errorHandler());
app.route('/payments', router);
app.use(router.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
