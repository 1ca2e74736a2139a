import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { openConnection } from '@fw/core/testing';
import { expect, onTestFinished, test } from 'vitest';

import { readBody } from './read-body.ts';

const LARGE = 'x'.repeat(20 * 1024);

/** A server that reads bodies, and a counter of the turns of the event loop. */
async function startReader() {
  const bodies: Buffer[] = [];
  const turns: number[] = [];
  let turn = 0;
  let isOver = false;
  const server = createServer(async (req, res) => {
    const body = await readBody(req, res, { limitBytes: 2 ** 20 });
    bodies.push(body);
    turns.push(turn);
    res.end('read');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const count = async () => {
    for (; !isOver; turn++) await nextTurn();
  };
  void count();
  onTestFinished(() => {
    isOver = true;
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, bodies, turns };
}

test('large bodies that arrive at the same time are returned one per turn', async () => {
  const { port, turns } = await startReader();
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${LARGE.length}\r\n\r\n`;
  const clients = Array.from({ length: 20 }, () => openConnection(port).send(head + LARGE));

  await Promise.all(clients.map((client) => client.read(/read/)));

  expect(new Set(turns).size).toBe(20);
  for (const client of clients) client.close();
});

test('a large body is not returned to be parsed after its response has ended', async () => {
  const req = Object.assign(Readable.from([Buffer.from(LARGE)]), { headers: {} });
  const res = { destroyed: true };

  const reading = readBody(req as IncomingMessage, res as ServerResponse, { limitBytes: 2 ** 20 });

  await expect(reading).rejects.toThrow('The response has ended');
});

test('a body in many small chunks is one buffer of its bytes', async () => {
  const { port, bodies } = await startReader();
  const digits = Array.from({ length: 50_000 }, (_, at) => at % 10);
  const chunks = digits.map((digit) => `1\r\n${digit}\r\n`).join('');
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
  const client = openConnection(port).send(`${head}${chunks}0\r\n\r\n`);

  await client.read(/read/);

  expect(bodies.map(String)).toEqual([digits.join('')]);
  expect(bodies[0]?.buffer.byteLength).toBeLessThanOrEqual(2 * digits.length);
  client.close();
});

test('an announced length occupies no memory before its bytes arrive', async () => {
  const headers = { 'content-length': String(2 ** 20) };
  const req = Object.assign(Readable.from([Buffer.from('a'), Buffer.from('b')]), { headers });

  const body = await readBody(req as IncomingMessage, {} as ServerResponse, {
    limitBytes: 2 ** 20,
  });

  expect(String(body)).toBe('ab');
  expect(body.buffer.byteLength).toBeLessThan(2 ** 20);
});
