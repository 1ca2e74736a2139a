import { once } from 'node:events';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';

import { expect, test } from 'vitest';

import { usesPrivateFields } from './http.ts';
import { createEndWatch } from './socket-end.ts';

/** A stream that a program passes to the server, with a method of its own. */
function createStream(): Socket {
  return new Duplex({ read() {}, destroy: (error, done) => done(error) }) as Socket;
}

test.each([
  ['a connection', () => new Socket()],
  ['another stream', createStream],
])('the end of %s is reported once, and its error is ignored', async (_, create) => {
  const ended: Socket[] = [];
  const socket = create();
  createEndWatch((each) => ended.push(each))(socket);

  socket.destroy(new Error('reset'));
  await new Promise((resolve) => socket.on('close', resolve));

  expect(ended).toEqual([socket]);
});

test('a listener gets the error of a connection whose end is watched', async () => {
  const socket = new Socket();
  createEndWatch(() => {})(socket);
  const failed = once(socket, 'error');

  socket.destroy(new Error('reset'));

  expect(await failed).toEqual([new Error('reset')]);
});

test('the watch adds no listeners to a connection', ({ skip }) => {
  skip(!usesPrivateFields, 'it is a listener');
  const socket = new Socket();
  const before = socket.eventNames();

  createEndWatch(() => {})(socket);

  expect(socket.eventNames()).toEqual(before);
});
