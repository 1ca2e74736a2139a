import { setTimeout as sleep } from 'node:timers/promises';

import { json } from '@fw/body-parser';
import { validate } from '@fw/validation';
import {
  createApp,
  errorHandler,
  listen,
  NotFoundError,
  notFoundHandler,
  onSent,
  ServiceUnavailableError,
} from 'fw';
import { z } from 'zod';

interface Job {
  readonly id: string;
  readonly text: string;
  state: 'queued' | 'done' | 'failed';
}

/** Further jobs get 503: a queue without a limit hides an overload until the memory is full. */
const MAX_QUEUED = 100;

/** Only the state of the last jobs is known. */
const MAX_KNOWN = 1_000;

const jobs = new Map<string, Job>();
const queue: Job[] = [];
let isWorking = false;

function keep(job: Job): void {
  jobs.set(job.id, job);
  const [oldest] = jobs.keys();
  if (oldest !== undefined && jobs.size > MAX_KNOWN) jobs.delete(oldest);
}

/** Runs the queued jobs one after another. A failed job never ends the process. */
async function work(): Promise<void> {
  if (isWorking) return;
  isWorking = true;
  for (let job = queue.shift(); job; job = queue.shift()) {
    try {
      await sendMail(job);
      job.state = 'done';
    } catch (error) {
      job.state = 'failed';
      app.logger.error(`Job ${job.id} failed`, error);
    }
  }
  isWorking = false;
}

async function sendMail({ text }: Job): Promise<void> {
  await sleep(10);
  if (text === '') throw new Error('no text');
}

const app = createApp();
app.use(errorHandler());
app.post('/mails', json(), validate(z.object({ text: z.string() })), (ctx) => {
  if (queue.length >= MAX_QUEUED) throw new ServiceUnavailableError('Too many mails are queued');
  const job: Job = { id: crypto.randomUUID(), text: ctx.body.text, state: 'queued' };
  keep(job);
  queue.push(job);
  onSent(ctx, () => void work()); // the client has its response before the work begins
  ctx.status = 202;
  ctx.set('Location', `/mails/${job.id}`);
  return { data: { id: job.id } };
});
app.get('/mails/:id', (ctx) => {
  const job = jobs.get(ctx.params.id);
  if (!job) throw new NotFoundError(`Mail "${ctx.params.id}" not found`);
  return { data: { id: job.id, state: job.state } };
});
app.use(app.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
