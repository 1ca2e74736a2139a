import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { openConnection } from '../testing/index.ts';
import { exchange, serve } from '../testing/vitest.ts';
import { MAX_WAITING } from './create-server.ts';

const get = (path: string, ...headers: readonly string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n');

test('pipelined requests are handled one after another, in order', async () => {
  let running = 0;
  const events: string[] = [];
  const { port } = await serve(async (ctx) => {
    running++;
    events.push(`${ctx.path} ${running}`);
    await nextTurn();
    running--;
    ctx.send(ctx.path);
  });

  const text = await exchange(port, get('/a') + get('/b') + get('/c', 'Connection: close'));

  expect(events).toEqual(['/a 1', '/b 1', '/c 1']);
  expect(text.match(/^\/[abc]/gm)).toEqual(['/a', '/b', '/c']);
});

test('the body of a pipelined POST reaches its own handler', async () => {
  const { port } = await serve(async (ctx) => {
    const body = Buffer.concat(await ctx.raw.req.toArray()).toString();
    ctx.send(`got ${body}`);
  });

  const connection = openConnection(port).send(
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nonePOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\ntw`,
  );
  await connection.read(/got one/);
  const text = await connection.send('o').readAll();

  expect(text.match(/got (?:one|two)/g)).toEqual(['got one', 'got two']);
});

test('a pipelined request does not see the AsyncLocalStorage of the request before it', async () => {
  const storage = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const { port } = await serve((ctx) => {
    seen.push(storage.getStore());
    storage.enterWith(ctx.path);
    ctx.send('ok');
  });

  await exchange(port, get('/a') + get('/b') + get('/c', 'Connection: close'));

  expect(seen).toEqual([undefined, undefined, undefined]);
});

test('a client that pipelines without reading uses the memory of one response', async () => {
  let begun = 0;
  const { port } = await serve((ctx) => {
    begun++;
    ctx.send('x'.repeat(20_000_000));
  });
  const socket = connect(port, '127.0.0.1').pause();
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');

  socket.write(get('/').repeat(MAX_WAITING));
  const other = await fetch(`http://127.0.0.1:${port}/`);
  await other.arrayBuffer();

  expect(begun).toBe(2);
});

test('a client may pipeline any number of requests if it waits for responses in between', async () => {
  const { port } = await serve((ctx) => ctx.send(ctx.path));
  const connection = openConnection(port);

  for (const last of ['/a', '/b', '/c']) {
    connection.send(get('/').repeat(MAX_WAITING / 2) + get(last));
    await connection.read(new RegExp(`${last}$`));
  }

  connection.close();
});

test('a client that pipelines too many requests is disconnected', async () => {
  const begun: string[] = [];
  const { port } = await serve(async (ctx) => {
    begun.push(ctx.path);
    await new Promise(() => {});
  });
  const socket = connect(port, '127.0.0.1').on('error', () => {});

  socket.write(get('/').repeat(MAX_WAITING + 2));
  socket.resume();
  await once(socket, 'close');

  expect(begun).toEqual(['/']);
});
