import { setTimeout as sleep } from 'node:timers/promises';

import { json } from '@fw/body-parser';
import { errorHandler } from '@fw/errors';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';

import { createApp } from '../application.ts';
import { openConnection, recordLog } from '../testing/index.ts';
import { serve } from '../testing/vitest.ts';

const PIECES = [
  ...['GET ', 'POST ', 'OPTIONS ', ' HTTP/1.1', ' HTTP/1.0', ' ', '\r\n', '\r\n\r\n', '\n'],
  ...'/ * /users/ %2e%2e % ?a= & # {"a":1}'.split(' '),
  ...['Host: a', 'Content-Length: 5', 'Transfer-Encoding: chunked', 'Expect: 100-continue'],
  ...['Content-Type: application/json', 'Connection: close', 'Connection: upgrade'],
  ...['5\r\nabcde\r\n', '0\r\n\r\n', 'Host: a\r\n'],
];
const request = fc
  .array(
    fc.oneof(
      fc.constantFrom(...PIECES),
      fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    ),
    { maxLength: 15 },
  )
  .map((pieces) => pieces.join(''));
const POST =
  'POST /users HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a":';

test('no request crashes the process: 1,000 generated ones, and some whose client disconnects', async () => {
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  process.on('uncaughtExceptionMonitor', onFailure);
  onTestFinished(() => void process.off('uncaughtExceptionMonitor', onFailure));
  const { logger, errors } = recordLog();
  const app = createApp({ trustProxy: 1, logger })
    .use(errorHandler(), json({ inflate: true }))
    .get('/users/:id', (ctx) => ctx.json({ id: ctx.params.id, query: ctx.query }))
    .get('/*', async (ctx) => ctx.send(ctx.params['*']))
    .post('/users', (ctx) => ctx.json({ body: ctx.body ?? null, ip: ctx.ip, host: ctx.host }));
  const { port } = await serve(app, { headersTimeoutMs: 2_000 });
  const attack = async (bytes: string, leaveAfterMs = 5) => {
    const connection = openConnection(port).send(bytes);
    await Promise.race([connection.readAll(), sleep(leaveAfterMs)]);
    connection.close();
  };

  await Promise.all(Array.from({ length: 60 }, (_, at) => attack(POST.slice(0, 2 * at), at % 7)));
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 20, maxLength: 20 }), async (attacks) => {
      await Promise.all(attacks.map((bytes) => attack(bytes)));
    }),
    { numRuns: 50 },
  );

  const response = await fetch(`http://127.0.0.1:${port}/users/42?a=b`);
  expect(await response.json()).toEqual({ id: '42', query: { a: 'b' } });
  expect(failures).toEqual([]);
  expect(errors).toEqual([]);
});
