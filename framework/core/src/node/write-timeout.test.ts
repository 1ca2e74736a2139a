import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';

import { expect, onTestFinished, test, vi } from 'vitest';

import type { Context } from '../context.ts';
import { openConnection } from '../testing/index.ts';
import { GET, serve } from '../testing/vitest.ts';
import { usesPrivateFields } from './http.ts';
import { limitWriteTime } from './write-timeout.ts';

const start = (writeTimeoutMs: number, handler: (ctx: Context) => void) =>
  serve(handler, { writeTimeoutMs });

/** A client that requests `/` and never reads the response. */
function openStalledClient(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1' }).pause();
  socket.on('error', () => {}).write(GET);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** An endless stream in chunks of 64 KiB, and a count of the bytes that were read. */
function endlessBody() {
  let produced = 0;
  const body = new Readable({
    read() {
      produced += 65_536;
      this.push(Buffer.alloc(65_536));
    },
  });
  return { body, producedBytes: () => produced };
}

test('with the time limit 0, a client that accepts no data stays connected', async () => {
  const closed: string[] = [];
  const serveUntil = (limitMs: number, onClose: () => void) =>
    start(limitMs, (ctx) => {
      ctx.raw.res.once('close', onClose);
      ctx.send(Buffer.alloc(20_000_000));
    });
  const limited = Promise.withResolvers<void>();
  const servers = [
    await serveUntil(0, () => closed.push('without limit')),
    await serveUntil(30, limited.resolve),
  ];

  for (const { port } of servers) openStalledClient(port);
  await limited.promise;

  expect(closed).toEqual([]);
});

test('a stream that the client does not read is destroyed, and its buffer is limited', async () => {
  const { body, producedBytes } = endlessBody();
  const { port } = await start(30, (ctx) => ctx.send(body));

  openStalledClient(port);
  await new Promise((resolve) => body.on('error', () => {}).on('close', resolve));

  // The operating system buffers up to 10 MB between the two ends, the process 64 KiB.
  expect(producedBytes()).toBeLessThan(20_000_000);
});

test('a client that accepts data before each time-out stays connected', ({ skip }) => {
  skip(!usesPrivateFields, 'the public counters contain a chunk only once all of it was accepted');
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = new EventEmitter();
  const handle = { bytesWritten: 1_000, writeQueueSize: 1_000 };
  const socket = { writableLength: 1, _handle: handle, resetAndDestroy: vi.fn(), destroy: vi.fn() };
  limitWriteTime(
    server as Server,
    new Map([[socket, socket]] as unknown as [Socket, Socket][]),
    1_000,
  );
  server.emit('listening');

  for (let step = 0; step < 5; step++) {
    handle.writeQueueSize -= 100;
    vi.advanceTimersByTime(900);
  }
  const resetsWhileReading = socket.resetAndDestroy.mock.calls.length;
  handle.bytesWritten += 100; // the handler writes more
  handle.writeQueueSize += 100;
  vi.advanceTimersByTime(200); // the last progress was seen 100 ms after it was made

  expect(resetsWhileReading).toBe(0);
  expect(socket.resetAndDestroy).toHaveBeenCalled();
});

test('a stream that has nothing to send for longer than the time-out stays open', async () => {
  const closed = Promise.withResolvers<void>();
  const events = new Readable({ read() {} });
  events.push('first');
  const { port } = await start(30, (ctx) => {
    if (ctx.path === '/events') {
      ctx.send(events);
      return;
    }
    ctx.raw.res.once('close', closed.resolve);
    ctx.send(Buffer.alloc(20_000_000));
  });
  const connection = openConnection(port).send('GET /events HTTP/1.1\r\nHost: a\r\n\r\n');
  await connection.read(/first/);

  openStalledClient(port);
  await closed.promise; // then the other connection was idle for the whole time-out
  events.push('second');
  events.push(null);

  await connection.read(/second\r\n0\r\n/);
  connection.close();
});
