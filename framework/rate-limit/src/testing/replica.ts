/*
 * One of several processes that share a Redis server: `node replica.ts <url> <requests>` sends that
 * many requests at once to an application of its own, and prints how many passed.
 */
import { createApp } from '@fw/core';
import { request } from '@fw/core/testing';

import { rateLimit } from '../rate-limit.ts';
import { redisStore } from '../redis.ts';
import { connect } from './redis-client.ts';

const [url = '', requests = '0'] = process.argv.slice(2);
const client = await connect(url);
const app = createApp();
app.use(
  // The start of many processes at once must not look like an unavailable server.
  rateLimit({ max: 100, window: '1m', store: redisStore(client, { timeout: 10_000 }) }),
  (ctx) => ctx.send('ok'),
);

const responses = await Promise.all(
  Array.from({ length: Number(requests) }, () => request(app, '/')),
);
console.log(responses.filter(({ status }) => status === 200).length);
client.destroy();
