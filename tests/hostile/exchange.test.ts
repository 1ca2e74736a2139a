import net from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { listenAnywhere } from '../../deploy/local/testing/ports.ts';
import { exchange } from './exchange.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const LAST = OK.replace('Content', 'X-Request-Id: last-on-connection\r\nContent');
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';
const CLOSED = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/** A server that sends `first` after the bytes, and then `second` after the last request. */
async function startServer(first: string, second: string): Promise<number> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      if (first.includes('close')) socket.end(first);
      else socket.write(first);
      socket.once('data', () => socket.end(second));
    });
  });
  onTestFinished(() => void server.close());
  return listenAnywhere(server);
}

test.each([
  ['one response', OK, LAST, '200 keep'],
  ['chunks', CHUNKED, LAST, '200 keep'],
  ['a closed connection', CLOSED, '', '400 close'],
  ['a second response at once', OK + OK, LAST, '200 200 keep'],
  ['a second response before that of the last request', OK, CLOSED + LAST, '200 400 keep'],
  ['a last request that was read as a body', OK, CLOSED, '200 400 close'],
])('%s has its own outcome', async (_, first, second, outcome) => {
  const port = await startServer(first, second);

  const received = await exchange({
    port,
    bytes: 'GET / HTTP/1.1\r\n\r\n',
    isCut: false,
    path: '/',
  });

  expect(received.outcome).toBe(outcome);
});

test('a request that is cut off gets no further bytes', async () => {
  const port = await startServer(CLOSED, OK);

  const received = await exchange({ port, bytes: 'GET /', isCut: true, path: '/' });

  expect(received.outcome).toBe('400 close');
});
