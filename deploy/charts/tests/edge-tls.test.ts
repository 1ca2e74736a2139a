import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import tls from 'node:tls';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { issueCertificate } from '../../local/testing/certificate.ts';
import { listenAnywhere } from '../../local/testing/ports.ts';
import { charts } from './render.ts';
import { type RenderedEdge, startRenderedEdge } from './rendered-edge.ts';

const certificate = issueCertificate(['127.0.0.1']);
const ca = certificate['tls.crt'];
const HSTS = 'max-age=31536000';

/** Responds with the request, so that a test sees what the edge forwarded. */
const echo = http.createServer(({ method, url, headers }, response) => {
  response.end(JSON.stringify({ method, url, headers }));
});

let edge: RenderedEdge;
beforeAll(async () => {
  const objects = charts.render('platform', { edge: { tls: { secretName: 'edge-tls' } } });
  edge = await startRenderedEdge({ objects, users: await listenAnywhere(echo), certificate });
});
afterAll(async () => {
  await edge.stop();
  echo.close();
});

/** Opens a connection of HTTP/2, closed after the test. */
function connect() {
  const session = http2.connect(`https://127.0.0.1:${edge.tlsPort}`, { ca });
  session.on('error', () => {});
  onTestFinished(() => session.destroy());
  return session;
}

async function send(session: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders) {
  const stream = session.request(headers);
  const [received] = await once(stream, 'response');
  const text = Buffer.concat(await stream.toArray()).toString();
  return { status: received[':status'], headers: received, text };
}

/** Sends a request of HTTP/1.1. */
async function get(url: string, method = 'GET') {
  const client = url.startsWith('https:') ? https : http;
  const request = client.request(url, { method, agent: false, ca }).end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, headers: response.headers, text };
}

test('clients with HTTP/2 get it, others HTTP/1.1; TLS before 1.2 is refused', async () => {
  const session = connect();
  const h2 = await send(session, { ':path': '/api/v1/users' });
  const h1 = await get(`https://127.0.0.1:${edge.tlsPort}/api/v1/users`);
  const old = tls.connect({
    ...{ port: edge.tlsPort, host: '127.0.0.1', ca },
    ...{ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' },
  });

  await expect(once(old, 'secureConnect')).rejects.toThrow(/alert protocol version/);
  expect(session.alpnProtocol).toBe('h2');
  for (const { status, headers, text } of [h2, h1]) {
    expect(status).toBe(200);
    expect(headers['strict-transport-security']).toBe(HSTS);
    expect(JSON.parse(text).headers).toMatchObject({
      host: `127.0.0.1:${edge.tlsPort}`,
      'x-forwarded-proto': 'https',
      'x-forwarded-host': `127.0.0.1:${edge.tlsPort}`,
      'x-forwarded-for': '127.0.0.1',
    });
  }
});

test.each([
  ['an unknown path', { ':path': '/nowhere' }, 404, 'NOT_FOUND'],
  ['an unavailable service', { ':path': '/api/v1/reports' }, 502, 'BAD_GATEWAY'],
  ['an invalid path', { ':path': '/api/v1/users/%ZZ' }, 400, 'BAD_REQUEST'],
])('HTTP/2: %s gets a problem', async (_, headers, status, code) => {
  const received = await send(connect(), headers);

  expect(received.status).toBe(status);
  expect(received.headers).toMatchObject({
    'content-type': 'application/problem+json',
    'strict-transport-security': HSTS,
  });
  expect(JSON.parse(received.text)).toMatchObject({ status, code });
});

test.each([
  ['POST', '/api/v2/users?a=1'],
  ['DELETE', '/api/v1/users//7%2F'],
])('%s %s without TLS is redirected with its method and path', async (method, target) => {
  const { status, headers } = await get(`http://127.0.0.1:${edge.port}${target}`, method);

  expect([status, headers.location]).toEqual([308, `https://127.0.0.1${target}`]);
  expect(headers).not.toHaveProperty('strict-transport-security');
});

test.each([
  ['HTTP at the port of TLS', 'tlsPort', '/'],
  ['an invalid request without TLS', 'port', '/%ZZ'],
] as const)('%s gets 400 and a problem', async (_, port, target) => {
  const { status, headers, text } = await get(`http://127.0.0.1:${edge[port]}${target}`);

  expect([status, headers['content-type']]).toEqual([400, 'application/problem+json']);
  expect(JSON.parse(text).code).toBe('BAD_REQUEST');
});
