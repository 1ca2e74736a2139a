import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { issueCertificate } from '../../local/testing/certificate.ts';
import { listenAnywhere } from '../../local/testing/ports.ts';
import { charts } from './render.ts';
import { type RenderedEdge, startRenderedEdge } from './rendered-edge.ts';

const certificate = issueCertificate(['127.0.0.1']);
const HSTS = 'strict-transport-security';
const ONE_YEAR = 'max-age=31536000';
const PROBLEM = { 'content-type': 'application/problem+json' };

/** Responds with the request, so that a test sees what the edge forwarded; 404, because errors need HSTS too. */
const echo = http.createServer(({ method, url, headers }, response) => {
  response.writeHead(404).end(JSON.stringify({ method, url, headers }));
});

let edge: RenderedEdge;
beforeAll(async () => {
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), certificate['tls.crt']]);
  const objects = charts.render('platform', { edge: { tls: { secretName: 'edge-tls' } } });
  edge = await startRenderedEdge({ objects, users: await listenAnywhere(echo), certificate });
});
afterAll(async () => {
  await edge.stop();
  echo.close();
});

/** Sends a request by HTTP/2. */
async function getByHttp2(target: string) {
  const session = http2.connect(`https://127.0.0.1:${edge.tlsPort}`);
  onTestFinished(() => session.destroy());
  const stream = session.request({ ':path': target });
  const [headers] = await once(stream, 'response');
  return { protocol: session.alpnProtocol, headers, body: JSON.parse(await text(stream)) };
}

test('clients with HTTP/2 get it, others HTTP/1.1; TLS before 1.2 is refused', async () => {
  const h2 = await getByHttp2('/api/v1/users');
  // fetch would use HTTP/2.
  const request = https.get(`https://127.0.0.1:${edge.tlsPort}/api/v1/users`);
  const [h1] = (await once(request, 'response')) as [http.IncomingMessage];
  const old = tls.connect({
    ...{ port: edge.tlsPort, host: '127.0.0.1' },
    ...{ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' },
  });

  await expect(once(old, 'secureConnect')).rejects.toThrow(/alert protocol version/);
  expect(h2).toMatchObject({ protocol: 'h2', headers: { ':status': 404, [HSTS]: ONE_YEAR } });
  expect(h1).toMatchObject({ httpVersion: '1.1', statusCode: 404, headers: { [HSTS]: ONE_YEAR } });
  for (const { headers } of [h2.body, JSON.parse(await text(h1))]) {
    expect(headers).toMatchObject({
      host: `127.0.0.1:${edge.tlsPort}`,
      'x-forwarded-proto': 'https',
      'x-forwarded-host': `127.0.0.1:${edge.tlsPort}`,
      'x-forwarded-for': '127.0.0.1',
    });
  }
});

test.each([
  ['an unavailable service', '/api/v1/reports', 502],
  ['an invalid path', '/api/v1/users/%ZZ', 400],
])('HTTP/2: %s gets a problem', async (_, target, status) => {
  const { headers, body } = await getByHttp2(target);

  expect(headers).toMatchObject({ ...{ ':status': status, [HSTS]: ONE_YEAR }, ...PROBLEM });
  expect(body.status).toBe(status);
});

test.each([
  ['POST', '/api/v2/users?a=1'],
  ['DELETE', '/api/v1/users//7%2F'],
])('%s %s without TLS is redirected with its method and path', async (method, target) => {
  const url = `http://127.0.0.1:${edge.port}${target}`;
  const { status, headers } = await fetch(url, { method, redirect: 'manual' });

  expect([status, headers.get('location')]).toEqual([308, `https://127.0.0.1${target}`]);
  expect(headers.has(HSTS)).toBe(false);
});

test.each([
  ['HTTP at the port of TLS', 'tlsPort', '/'],
  ['an invalid request without TLS', 'port', '/%ZZ'],
] as const)('%s gets 400 and a problem', async (_, port, target) => {
  const response = await fetch(`http://127.0.0.1:${edge[port]}${target}`);

  expect(Object.fromEntries(response.headers)).toMatchObject(PROBLEM);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
});
