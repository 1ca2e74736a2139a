import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { openConnection } from '@fw/core/testing';
import { expect, onTestFinished, test, vi } from 'vitest';

import { IncomingRequest } from '../node/incoming-request.ts';
import {
  BodyMemory,
  countBody,
  discardRest,
  hasBody,
  isBodyRead,
  markStreamed,
  readBody,
  sendContinue,
} from './read-body.ts';

const LARGE = 'x'.repeat(20 * 1024);

/** A server that reads bodies, and a counter of the turns of the event loop. */
async function startReader() {
  const bodies: Buffer[] = [];
  const turns: number[] = [];
  let turn = 0;
  let isOver = false;
  const server = createServer({ IncomingMessage: IncomingRequest }, async (req, res) => {
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

/** A request without a connection, whose body is `chunks`. */
function requestOf(chunks: readonly string[], headers: IncomingMessage['headers'] = {}) {
  const bytes = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  return Object.assign(bytes, { method: 'POST', url: '/x', headers }) as unknown as IncomingMessage;
}

const response = { destroyed: false } as ServerResponse;

test('large bodies that arrive at the same time are returned one per turn', async () => {
  const { port, turns } = await startReader();
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${LARGE.length}\r\n\r\n`;
  const clients = Array.from({ length: 20 }, () => openConnection(port).send(head + LARGE));

  await Promise.all(clients.map((client) => client.read(/read/)));

  expect(new Set(turns).size).toBe(20);
  for (const client of clients) client.close();
});

test('a large body is not returned to be parsed after its response has ended', async () => {
  const res = { destroyed: true } as ServerResponse;

  const reading = readBody(requestOf([LARGE]), res, { limitBytes: 2 ** 20 });

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

test('the buffer grows with the bytes that arrive, not with the announced length', async () => {
  const req = requestOf(['a', 'b'], { 'content-length': String(2 ** 20) });

  const body = await readBody(req, response, { limitBytes: 2 ** 20 });

  expect(String(body)).toBe('ab');
  expect(body.buffer.byteLength).toBeLessThan(2 ** 20);
});

test.each([
  ['POST', {}, false],
  ['POST', { 'content-length': '0' }, false],
  ['POST', { 'content-length': '1' }, true],
  ['DELETE', { 'transfer-encoding': 'chunked' }, true],
  ['GET', { 'content-length': '1' }, false],
  ['HEAD', { 'transfer-encoding': 'chunked' }, false],
])('%s with %j has a body: %s', (method, headers, expected) => {
  expect(hasBody({ method, headers } as IncomingMessage)).toBe(expected);
});

test.each([
  ['without a length', {}],
  ['of an announced length', { 'content-length': '10' }],
  ['longer than announced', { 'content-length': '4' }],
])('a body %s may have the limit, but not one byte more', async (_, headers) => {
  const read = (...chunks: string[]) =>
    readBody(requestOf(chunks, headers), response, { limitBytes: 10 });

  expect(String(await read('12345', '67890'))).toBe('1234567890');
  await expect(read('12345', '678901', 'more')).rejects.toMatchObject({
    status: 413,
    message: 'The body must have at most 10 bytes',
  });
});

test('a body in one chunk is that chunk, without a copy', async () => {
  const chunk = Buffer.from('all');
  const req = Object.assign(Readable.from([chunk]), { headers: {} }) as unknown;

  expect(await readBody(req as IncomingMessage, response, { limitBytes: 10 })).toBe(chunk);
});

test('a body that breaks off rejects with 400 and its cause', async () => {
  const req = requestOf([]);
  const cause = new Error('aborted');
  const reading = readBody(req, response, { limitBytes: 10 });

  req.destroy(cause);

  await expect(reading).rejects.toMatchObject({
    status: 400,
    message: 'The body ended early or could not be decoded',
    cause,
  });
});

test('an unfinished body stops its decoder, and the rest of the request is discarded', async () => {
  const req = requestOf(['compressed', 'more', 'and more'], { 'content-length': '22' });
  const decoded = req.pipe(new PassThrough());

  await expect(readBody(req, response, { limitBytes: 8, decoded })).rejects.toMatchObject({
    status: 413,
  });

  expect(decoded.destroyed).toBe(true);
  await expect.poll(() => req.readableEnded).toBe(true);
});

test('the limit applies to the decoded body', async () => {
  const req = requestOf(['x'], { 'content-length': '1' });
  const decoded = Readable.from([Buffer.from('many '), Buffer.from('bytes')]);

  expect(String(await readBody(req, response, { limitBytes: 10, decoded }))).toBe('many bytes');
});

test('a request that breaks off fails its decoded body', async () => {
  const req = requestOf([]);
  const reading = readBody(req, response, { limitBytes: 10, decoded: new PassThrough() });

  req.destroy(new Error('aborted'));

  await expect(reading).rejects.toMatchObject({ status: 400 });
});

test('a request is free of listeners once its body is read', async () => {
  const req = requestOf(['a', 'b']);
  const before = req.eventNames();

  await readBody(req, response, { limitBytes: 10 });

  expect(req.eventNames()).toEqual(before);
});

/** Records the changes of the counted memory, up to `maxBytes`. */
function countChanges(req: IncomingMessage, maxBytes = Number.POSITIVE_INFINITY) {
  const changes: number[][] = [];
  const full = new Error('full');
  countBody(req, (from, to) => {
    if (to > maxBytes) return full;
    changes.push([from, to]);
    return undefined;
  });
  return { changes, full };
}

test('an announced body is counted before it arrives, until it is read', async () => {
  const req = requestOf([LARGE, LARGE], { 'content-length': String(2 * LARGE.length) });
  const { changes } = countChanges(req);

  const reading = readBody(req, response, { limitBytes: 2 ** 20 });
  expect(changes).toEqual([[0, 40_960]]);
  await reading;

  expect(changes).toEqual([
    [0, 40_960],
    [40_960, 0],
  ]);
});

test('a body of unknown length is counted as it arrives', async () => {
  const req = requestOf(['small', LARGE, LARGE]);
  const { changes } = countChanges(req);

  await readBody(req, response, { limitBytes: 2 ** 20 });

  expect(changes).toEqual([
    [0, 20_485],
    [20_485, 40_965],
    [40_965, 0],
  ]);
});

test.each([
  ['of at most 16 KiB', ['x'.repeat(16 * 1024)], {}],
  ['that is too large from its start', [LARGE], {}],
])('a body %s is not counted', async (_, chunks, headers) => {
  const req = requestOf(chunks, headers);
  const { changes } = countChanges(req);

  await readBody(req, response, { limitBytes: 16 * 1024 }).catch(() => {});

  expect(changes).toEqual([]);
});

test.each([
  ['is announced', { 'content-length': String(2 * LARGE.length) }, []],
  [
    'arrives',
    {},
    [
      [0, 20_480],
      [20_480, 0],
    ],
  ],
])('a body for which there is no memory when it %s is rejected', async (_, headers, counted) => {
  const req = requestOf([LARGE, LARGE], headers);
  const { changes, full } = countChanges(req, 30_000);

  await expect(readBody(req, response, { limitBytes: 2 ** 20 })).rejects.toBe(full);

  expect(changes).toEqual(counted);
});

test('memory is reserved in total and released once', () => {
  const req = requestOf([]);
  const { changes, full } = countChanges(req, 50_000);
  const memory = new BodyMemory(req);

  expect(memory.reserve(20_000)).toBeUndefined();
  expect(memory.reserve(18_000)).toBeUndefined();
  expect(memory.reserve(60_000)).toBe(full);
  expect(memory.reserve(30_000)).toBeUndefined();
  memory.release();
  memory.release();
  expect(memory.reserve(40_000)).toBeUndefined();

  expect(changes).toEqual([
    [0, 20_000],
    [20_000, 30_000],
    [30_000, 0],
  ]);
});

test.each([
  ['a client that expects it', '100-continue', 1, 1],
  ['a client that does not expect it', undefined, 1, 0],
  ['a client of HTTP/1.0', '100-continue', 0, 0],
])('%s gets 100 Continue (%s, HTTP/1.%i): %i', (_, expect_, httpVersionMinor, count) => {
  const req = Object.assign(requestOf([], { expect: expect_ }), { httpVersionMinor });
  const writeContinue = vi.fn();

  sendContinue(req, { writeContinue } as unknown as ServerResponse);

  expect(writeContinue).toHaveBeenCalledTimes(count);
});

test.each([
  ['a rejected body of 16 MiB is read to its end', 16, { mebibytes: 16, isComplete: true }],
  ['a rejected body of 40 MiB is not', 40, { mebibytes: 18, isComplete: false }],
])('%s', async (_, size, expected) => {
  const chunk = Buffer.alloc(2 ** 20);
  const req = Readable.from(Array.from({ length: size }, () => chunk));
  let mebibytes = 0;
  req.on('data', () => {
    mebibytes++;
  });
  req.pause(); // as after `unpipe()`

  discardRest(req as unknown as IncomingMessage);
  await once(req, 'close');

  expect({ mebibytes, isComplete: req.readableEnded }).toEqual(expected);
});

test('a body is read once: by a parser or by ctx.stream()', async () => {
  const req = requestOf(['a']);
  expect(isBodyRead(req)).toBe(false);
  await readBody(req, response, { limitBytes: 10 });
  expect(isBodyRead(req)).toBe(true);

  expect(markStreamed(req)).toBe(true);
  expect(markStreamed(req)).toBe(false);
  expect(() => isBodyRead(req)).toThrow(
    'Cannot parse the body of POST /x: ctx.stream() has it; use no body parser for this route',
  );
});

const ALREADY =
  'Cannot read the body of POST /x: it was already read; use one reader for each route';

test.each<[string, (req: IncomingMessage) => unknown, string]>([
  ['that was read before', (req) => readBody(req, response, { limitBytes: 2 ** 20 }), ALREADY],
  ['of which another reader has the start', (req) => once(req, 'data'), ALREADY],
  [
    'that is decoded to text',
    (req) => req.setEncoding('utf8'),
    'Cannot read the body of POST /x: req.setEncoding() decodes it to text; remove that call',
  ],
  ['whose client has left', (req) => req.destroy(), 'The body ended early or could not be decoded'],
])('a body %s is rejected, and not counted', async (_, prepare, message) => {
  const req = requestOf(['a', 'b'], { 'content-length': String(2 * LARGE.length) });
  const { changes } = countChanges(req);
  await prepare(req);
  changes.length = 0;

  await expect(readBody(req, response, { limitBytes: 2 ** 20 })).rejects.toThrow(message);

  expect(changes).toEqual([]);
});
