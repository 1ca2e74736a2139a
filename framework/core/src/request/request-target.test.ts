import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createApp } from '../application.ts';
import { type ListeningServer, listen } from '../server/listen.ts';
import { openConnection, quiet, request } from '../testing/index.ts';
import { exchange } from '../testing/vitest.ts';

/** An application that sends the path, query and host, and counts its requests. */
function createMirror() {
  let runs = 0;
  const app = createApp({ logger: quiet }).use((ctx) => {
    runs++;
    ctx.json({ path: ctx.path, host: ctx.host, query: ctx.query });
  });
  return { app, runs: () => runs };
}

let server: ListeningServer;
const mirror = createMirror();

beforeAll(async () => {
  server = await listen(mirror.app, 0);
});

afterAll(() => server.close());

/** Sends `bytes` and returns head and body of the single response before the connection closes. */
async function send(bytes: string): Promise<{ status: number; head: string; body: string }> {
  const [head = '', body = ''] = (await exchange(server.port, bytes)).split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, body };
}

function lines(...all: string[]): string {
  return `${all.join('\r\n')}\r\n\r\n`;
}

const VERSION = 'The request line must name HTTP/1.1 or HTTP/1.0';
const ONE_HOST = 'A request must have one Host header';
const HOST = 'The Host header must be a host and an optional port';
const TARGET = 'The request target must be a path or an absolute http URL';
const PATH = 'The path must be percent-encoded UTF-8 without ".", "..", "\\" or NUL segments';
const QUERY = 'The query must be percent-encoded and followed by no fragment';
const CODING = 'The only transfer coding is chunked, in HTTP/1.1';

// What RFC 9112 §3 requires of a request line.
test.each([
  ['GET / HTTP/2.0', 'Host: a', VERSION],
  ['GET / HTTP/1.1', 'X: y', ONE_HOST],
  ['GET / HTTP/1.1', 'Host: a\r\nHost: a', ONE_HOST],
  ...[
    '',
    'a, b',
    'user@a',
    'caf\xe9',
    ':80',
    'a:65536',
    'a:80:81',
    '[::1',
    '[]',
    'a%zz',
    'a/b',
  ].map((host) => ['GET / HTTP/1.1', `Host: ${host}`, HOST]),
  ...['*', 'http:///', 'http://u@a/', 'ftp://a/'].map((target) => [
    `GET ${target} HTTP/1.1`,
    'Host: a',
    TARGET,
  ]),
  ['GET /../a HTTP/1.1', 'Host: a', PATH],
  ['GET /?a#b HTTP/1.1', 'Host: a', QUERY],
  ['GET http://a/?b#c HTTP/1.1', 'Host: a', QUERY],
  ['GET /?a=%zz HTTP/1.1', 'Host: a', 'The query contains a malformed percent-escape'],
  ['POST / HTTP/1.0', 'Transfer-Encoding: chunked', CODING],
  ['POST / HTTP/1.1', 'Host: a\r\nTransfer-Encoding: chunked, gzip', undefined],
  ['GET / HTTP/1.1', 'Host: a\r\nX: y\rz', undefined],
] as [string, string, string | undefined][])(
  'a request is rejected before any middleware: %j with %j',
  async (line, header, detail) => {
    const runsBefore = mirror.runs();

    const { status, head, body } = await send(lines(line, header, 'Connection: close'));

    expect(status).toBe(400);
    expect(head).toMatch(/^content-type: application\/problem\+json$/im);
    expect(JSON.parse(body)).toMatchObject({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      code: 'BAD_REQUEST',
      requestId: expect.stringMatching(/^[\da-f]{32}$/),
      ...(detail && { detail }),
    });
    expect(mirror.runs()).toBe(runsBefore);
  },
);

test.each([
  ['GET / HTTP/1.1', 'Host: example.com', { host: 'example.com' }],
  ['GET / HTTP/1.1', 'Host: a:8080', { host: 'a:8080' }],
  ['GET / HTTP/1.1', 'Host: a:65535', { host: 'a:65535' }],
  ['GET / HTTP/1.1', 'Host: [::1]:80', { host: '[::1]:80' }],
  ['GET / HTTP/1.0', 'X: y', { host: '' }],
  // RFC 9112 §3.2.2: the host of an absolute target counts, not the header.
  ['GET http://b:1/p?q=1 HTTP/1.1', 'Host: a', { host: 'b:1', path: '/p', query: { q: '1' } }],
  ['GET http://b HTTP/1.1', 'Host: a', { host: 'b', path: '/' }],
  ['GET http://b?q=1 HTTP/1.1', 'Host: a', { host: 'b', path: '/', query: { q: '1' } }],
  ['GET /%6De HTTP/1.1', 'Host: a', { path: '/me' }],
  ['\r\n\r\nGET / HTTP/1.1', 'Host: a', { path: '/' }],
])('a request is accepted: %j with %j', async (line, header, expected) => {
  const { status, body } = await send(lines(line, header, 'Connection: close'));

  expect(status).toBe(200);
  expect(JSON.parse(body)).toMatchObject(expected);
});

describe('a method', () => {
  const silent = createApp({ logger: quiet });

  test.each([
    ['that HTTP has and nothing here takes', 'DELETE', 404],
    ['QUERY, of RFC 10008', 'QUERY', 404],
    ['that the framework does not know', 'PROPFIND', 501],
  ])('%s (%s) gets %i', async (_, method, status) => {
    const response = await request(silent, '/', { method });

    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
  });

  test.each(['BREW / HTTP/1.1', 'get / HTTP/1.1', 'BREW /tea HTTP/1.1'])(
    'that is unknown gets 501: %s',
    async (line) => {
      const { status, body } = await send(lines(line, 'Host: a'));

      expect(status).toBe(501);
      expect(JSON.parse(body)).toMatchObject({ status: 501, code: 'NOT_IMPLEMENTED' });
    },
  );

  test.each([
    ['the greeting of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['a request line after another character', '\0GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a word with a character that no method has', 'B@EW / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a line that is no request line', 'SSH-2.0-OpenSSH_9.9\r\n\r\n'],
  ])('%s gets 400, because it is not a method', async (_, bytes) => {
    const { status } = await send(bytes);

    expect(status).toBe(400);
  });
});

test('headers above 16 KiB get 431', async () => {
  const { status, body } = await send(
    lines('GET / HTTP/1.1', 'Host: a', `X: ${'x'.repeat(20_000)}`),
  );

  expect(status).toBe(431);
  expect(JSON.parse(body)).toMatchObject({ code: 'REQUEST_HEADER_FIELDS_TOO_LARGE' });
});

test.each([
  ['in one header', 'Transfer-Encoding: gzip, chunked'],
  ['in two headers', 'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked'],
])('a transfer coding before chunked, %s, gets 501 and a closed connection', async (_, header) => {
  const bytes = `${lines('POST / HTTP/1.1', 'Host: a', header)}0\r\n\r\n`;

  const { status, body } = await send(bytes);

  expect(status).toBe(501);
  expect(JSON.parse(body)).toMatchObject({ code: 'NOT_IMPLEMENTED' });
});

test.each(['x 100-continue', '100-continue, tea', 'tea'])(
  'the expectation "%s" gets 417 with a problem',
  async (expectation) => {
    const { status, body } = await send(
      lines('POST / HTTP/1.1', 'Host: a', `Expect: ${expectation}`),
    );

    expect(status).toBe(417);
    expect(JSON.parse(body)).toMatchObject({ code: 'EXPECTATION_FAILED' });
  },
);

test.each([
  ['no request', 'NOT HTTP\r\n\r\n'],
  ['an expectation', lines('GET / HTTP/1.1', 'Host: a', 'Expect: tea', 'Connection: close')],
])(
  'the response to %s that the parser rejects has X-Request-Id, and no cache stores it',
  async (_, bytes) => {
    const { head, body } = await send(bytes);

    expect(head).toContain(`\r\nX-Request-Id: ${JSON.parse(body).requestId}\r\n`);
    expect(head).toContain('\r\nCache-Control: no-store\r\n');
  },
);

test.each([
  ['an invalid chunk', 'Transfer-Encoding: chunked', 'xyz\r\n'],
  ['an invalid trailer', 'Transfer-Encoding: chunked', '0\r\nno colon\r\n\r\n'],
])('%s after the response gets no second response', async (_, header, body) => {
  const connection = openConnection(server.port).send(lines('POST / HTTP/1.1', 'Host: a', header));
  await connection.read(/"path":"\/"/);

  const text = await connection.send(body).readAll();

  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
});

describe('pipelining', () => {
  test.each([
    ['an unknown method', lines('BREW / HTTP/1.1', 'Host: a'), 501],
    ['no request', 'NOT HTTP\r\n\r\n', 400],
  ])('%s after a request gets its own status', async (_, bytes, status) => {
    const connection = openConnection(server.port).send(lines('GET / HTTP/1.1', 'Host: a') + bytes);

    const text = await connection.readAll();

    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', `HTTP/1.1 ${status}`]);
  });

  test('a request after a rejected one is served on the same connection', async () => {
    const { port } = server;
    const connection = openConnection(port).send(
      lines('GET /%ZZ HTTP/1.1', 'Host: a') +
        lines('GET /next HTTP/1.1', 'Host: a', 'Connection: close'),
    );

    const text = await connection.readAll();

    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 200']);
    expect(text).toContain('"path":"/next"');
  });
});
