import { expect, onTestFinished, test } from 'vitest';

import { createApp } from '../application.ts';
import type { Context } from '../context.ts';
import { closingSignal } from '../extension.ts';
import { http } from '../node/http.ts';
import { openConnection, quiet, request } from '../testing/index.ts';
import { exchange, GET, serve } from '../testing/vitest.ts';

test('closingSignal aborts for the requests in progress when the server closes', async () => {
  const app = createApp({ logger: quiet }).get(
    '/',
    (ctx) =>
      new Promise((resolve) => {
        closingSignal(ctx).addEventListener('abort', () => resolve('last event'));
      }),
  );
  const { server, port, close } = await serve(app);
  const begun = new Promise((resolve) => server.once('request', resolve));
  const connection = openConnection(port).send(GET);
  await begun;

  const [response] = await Promise.all([connection.readAll(), close()]);

  expect(response).toContain('last event');
});

test('closingSignal never aborts in a server that listen did not start', async () => {
  const contexts: Context[] = [];
  const app = createApp().use((ctx) => {
    contexts.push(ctx);
    ctx.send('here');
  });
  const server = http.createServer(app.handle).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };

  await exchange(port, GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  await request(app, '/');

  expect(contexts.map((ctx) => closingSignal(ctx).aborted)).toEqual([false, false]);
});
