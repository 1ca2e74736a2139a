import { connect } from '@fw/middleware/connect';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { createApp, errorHandler, listen, TooManyRequestsError } from 'fw';
import helmet from 'helmet';

const limiter = rateLimit({
  windowMs: 60_000,
  limit: 2,
  standardHeaders: 'draft-8',
  legacyHeaders: false,
  validate: { xForwardedForHeader: false },
  handler: (_req, _res, next) => next(new TooManyRequestsError('wait a minute')),
});
const limited = express().disable('x-powered-by').use(limiter);

const app = createApp({ trustProxy: 1 }).use(errorHandler(), connect(helmet()));
app.get('/limited', connect(limited), () => 'served');

await listen(app, Number(process.env.PORT ?? 3000));
