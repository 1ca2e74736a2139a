import { json } from '@fw/body-parser';
import { openapi } from '@fw/openapi';
import { validate } from '@fw/validation';
import { createApp, createRouter, endpoint, errorHandler, listen, notFoundHandler } from 'fw';
import { z } from 'zod';

const Booking = z.object({ seat: z.string(), name: z.string() });
const FreeSeats = z.object({ free: z.array(z.string()) });

const bookings = new Map<string, string>();
const SEATS = ['1A', '1B'];

const router = createRouter().use(json());
router.post(
  '/bookings',
  endpoint({
    summary: 'Book a seat',
    responses: { 201: Booking },
    errors: { 404: 'NO_SUCH_SEAT', 409: { SEAT_TAKEN: FreeSeats, SOLD_OUT: true } },
  }),
  validate({ body: Booking }),
  (ctx) => {
    const { seat, name } = ctx.body;
    if (!SEATS.includes(seat)) ctx.fail('NO_SUCH_SEAT', { detail: `There is no seat ${seat}` });
    const free = SEATS.filter((other) => !bookings.has(other));
    if (free.length === 0) ctx.fail('SOLD_OUT');
    if (!free.includes(seat)) ctx.fail('SEAT_TAKEN', { free });
    bookings.set(seat, name);
    ctx.status = 201;
    return { seat, name };
  },
);

const app = createApp();
app.use(errorHandler(), openapi({ router }));
app.route('/', router);
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
