import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { openConnection } from '@fw/core/testing';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { usesPrivateFields } from './http.ts';
import { IncomingRequest } from './incoming-request.ts';

beforeEach(({ skip }) => {
  skip(!usesPrivateFields, 'every body is read as a stream');
  new IncomingRequest(new Socket()).push(Buffer.from('the first body'));
});

const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';

/** The request of a client that has sent `head`, and the connection of the client. */
async function receive(head = HEAD) {
  const server = createServer({ IncomingMessage: IncomingRequest });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = openConnection((server.address() as AddressInfo).port).send(head);
  onTestFinished(() => {
    client.close();
    server.close();
  });
  const [req, res] = await once(server, 'request');
  return { client, req: req as IncomingRequest, res };
}

/** A receiver that records its calls. */
function createReceiver() {
  const calls: unknown[] = [];
  const ended = Promise.withResolvers<void>();
  const receiver = {
    add: (chunk: Buffer) => calls.push(String(chunk)) > 0,
    end: () => ended.resolve(void calls.push('end')),
    fail: (cause: Error) => ended.resolve(void calls.push(cause.message)),
  };
  return { receiver, calls, ended: ended.promise };
}

test('a receiver gets each chunk of the body and its end', async () => {
  const { client, req } = await receive();
  const { receiver, calls, ended } = createReceiver();

  expect(req.passBodyTo(receiver)).toBe(true);
  client.send('3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n');
  await ended;

  expect(calls).toEqual(['one', 'two', 'end']);
});

test('a receiver gets buffers, also if the runtime pushes other arrays of bytes', async () => {
  const { req } = await receive();
  const { receiver, calls } = createReceiver();

  req.passBodyTo(receiver);
  req.push(new TextEncoder().encode('one'));

  expect(calls).toEqual(['one']);
});

test('a reader that begins later gets the body too', async () => {
  const { client, req } = await receive();
  const { receiver, calls } = createReceiver();

  req.passBodyTo(receiver);
  const reading = text(req);
  client.send('3\r\none\r\n0\r\n\r\n');

  expect(await reading).toBe('one');
  expect(calls).toEqual(['one', 'end']);
});

test('a request whose body was passed emits end and close, and leaves the connection open', async () => {
  const { client, req, res } = await receive();
  const { receiver } = createReceiver();
  const events = Promise.all([once(req, 'end'), once(req, 'close')]);

  req.passBodyTo(receiver);
  client.send('3\r\none\r\n0\r\n\r\n');
  await events;
  res.end('sent');

  expect(req.readableEnded).toBe(true);
  expect(await client.read(/sent/)).toContain('200 OK');
});

test('a body is paused from a false of add() until resumeBody()', async () => {
  const { client, req } = await receive();
  const { receiver, calls, ended } = createReceiver();

  req.passBodyTo({ ...receiver, add: (chunk) => receiver.add(chunk) && false });
  client.send('3\r\none\r\n');
  await expect.poll(() => req.socket.isPaused()).toBe(true);
  client.send('3\r\ntwo\r\n0\r\n\r\n');
  await nextTurn();

  expect(calls).toEqual(['one']);
  req.resumeBody();
  await ended;
  expect(calls).toEqual(['one', 'two', 'end']);
});

test.each([
  ['', true],
  [' that was paused', false],
])('after stopPassing() the rest of the body%s stays in the stream', async (_, isReady) => {
  const { client, req } = await receive();
  const { receiver, calls } = createReceiver();
  const first = Promise.withResolvers<void>();

  const add = (chunk: Buffer) => {
    first.resolve();
    return receiver.add(chunk) && isReady;
  };
  req.passBodyTo({ ...receiver, add });
  client.send('3\r\none\r\n');
  await first.promise;
  req.stopPassing();
  client.send('3\r\ntwo\r\n0\r\n\r\n');

  expect(await text(req)).toBe('two');
  expect(calls).toEqual(['one']);
});

test.each<[string, (parts: Awaited<ReturnType<typeof receive>>) => void, string]>([
  ['when the client disconnects', ({ client }) => client.close(), 'aborted'],
  ['when the request is destroyed', ({ req }) => req.destroy(), 'The request was destroyed'],
])('fail() of a receiver is called %s', async (_, end, message) => {
  const parts = await receive();
  const { receiver, calls, ended } = createReceiver();

  parts.req.passBodyTo(receiver);
  end(parts);
  await ended;

  expect(calls).toEqual([message]);
});

test.each<[string, string, (req: IncomingRequest) => unknown]>([
  ['of which a chunk has arrived', `${HEAD}3\r\none\r\n`, nextTurn],
  ['that has arrived', `${HEAD}0\r\n\r\n`, nextTurn],
  ['with another reader', HEAD, (req) => req.on('data', () => {})],
  ['that is paused', HEAD, (req) => req.pause()],
  ['of a request that was destroyed', HEAD, (req) => req.destroy()],
  ['with a receiver', HEAD, (req) => req.passBodyTo(createReceiver().receiver)],
])('a body %s is not passed', async (_, head, prepare) => {
  const { req } = await receive(head);
  const { receiver, calls } = createReceiver();

  await prepare(req);

  expect(req.passBodyTo(receiver)).toBe(false);
  expect(calls).toEqual([]);
});
