import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import path from 'node:path';
import tls from 'node:tls';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { issueCertificate, writeSecretVolume } from '../../local/testing/certificate.ts';
import { listenAnywhere } from '../../local/testing/ports.ts';
import { charts, only, type Rendered } from './render.ts';
import { type RenderedEdge, startRenderedEdge } from './rendered-edge.ts';

const TLS = { edge: { tls: { secretName: 'edge-tls' } } };
let objects: Rendered[];
const certificate = issueCertificate(['127.0.0.1']);
const ca = certificate['tls.crt'];
const HSTS = 'max-age=31536000';

/** Responds with the request, so that a test sees what the edge forwarded. */
const echo = http.createServer(async (request, response) => {
  const bytes = Buffer.concat(await request.toArray()).length;
  const { method, url, headers } = request;
  response.end(JSON.stringify({ method, url, headers, bytes }));
});

let users: number;
let edge: RenderedEdge;
beforeAll(async () => {
  objects = charts.render('platform', TLS);
  users = await listenAnywhere(echo);
  edge = await startRenderedEdge({ objects, users, certificate });
});
afterAll(async () => {
  await edge.stop();
  echo.close();
});

/** Opens a connection of HTTP/2, closed after the test. */
function connect(port = edge.tlsPort) {
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca });
  session.on('error', () => {});
  onTestFinished(() => session.destroy());
  return session;
}

interface Received {
  readonly status: number | undefined;
  readonly headers: http2.IncomingHttpHeaders;
  readonly text: string;
}

async function send(
  session: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body?: Buffer,
): Promise<Received> {
  const stream = session.request(headers, { endStream: !body });
  if (body) stream.end(body);
  const [received] = await once(stream, 'response');
  const text = Buffer.concat(await stream.toArray()).toString();
  return { status: received[':status'], headers: received, text };
}

/** Sends a request of HTTP/1.1. */
async function get(url: string, method = 'GET'): Promise<Received> {
  const client = url.startsWith('https:') ? https : http;
  const request = client.request(url, { method, agent: false, ca }).end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, headers: response.headers, text };
}

/** The fingerprint of the certificate that a new connection gets. */
async function fingerprintOf(port: number): Promise<string> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerX509Certificate()?.fingerprint256 ?? '';
  } finally {
    socket.destroy();
  }
}

test('the Service, the pods, the NetworkPolicies and helm test of the edge have the port of TLS', () => {
  const [client] = only(objects, 'Pod', 'fw-edge-test').spec.containers;
  const { egress } = only(objects, 'NetworkPolicy', 'fw-edge-test').spec;
  const { ports } = only(objects, 'Service', 'fw-edge').spec;
  const pod = only(objects, 'Deployment', 'fw-edge').spec.template.spec;
  const policy = only(objects, 'NetworkPolicy', 'fw-edge').spec;

  expect(ports).toEqual([
    { name: 'http', port: 80, targetPort: 'http' },
    { name: 'https', port: 443, targetPort: 'https' },
  ]);
  expect(pod.containers[0].ports).toContainEqual({ name: 'https', containerPort: 8443 });
  expect(pod.volumes).toContainEqual({
    name: 'tls',
    secret: {
      secretName: 'edge-tls',
      items: ['tls.crt', 'tls.key'].map((key) => ({ key, path: key })),
    },
  });
  expect(policy.ingress).toEqual([{ ports: [{ port: 8080 }, { port: 8443 }] }]);
  expect(client.env).toContainEqual({ name: 'BASE', value: 'https://fw-edge:443' });
  expect(egress[1].ports).toEqual([{ port: 8443 }]);
});

test('a new certificate does not roll the pods; only readiness depends on it', () => {
  const { metadata, spec } = only(objects, 'Deployment', 'fw-edge').spec.template;
  const other = charts.render('platform', { edge: { tls: { secretName: 'other' } } });
  const { annotations } = only(other, 'Deployment', 'fw-edge').spec.template.metadata;
  const { readinessProbe, livenessProbe } = spec.containers[0];

  expect(annotations).toEqual(metadata.annotations);
  expect(readinessProbe.httpGet).toMatchObject({ port: 'https', scheme: 'HTTPS' });
  expect(livenessProbe.httpGet).toEqual({ path: '/page/index.html', port: 'http' });
});

test('node port, port and HSTS follow the values', () => {
  const edgeValues = { type: 'NodePort', nodePort: 30_080 };
  const secret = { ...TLS.edge.tls, port: 8443, nodePort: 30_443, hstsSeconds: 0 };
  const other = charts.render('platform', { edge: { service: edgeValues, tls: secret } });
  const { data } = only(other, 'ConfigMap', 'fw-edge');
  const https = only(other, 'Service', 'fw-edge').spec.ports[1];

  expect(https).toMatchObject({ name: 'https', port: 8443, nodePort: 30_443 });
  expect(data['listen.conf']).toContain('return 308 https://$host:8443$request_uri;');
  expect(data['tls.conf']).not.toContain('max-age');
});

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

test('a client can resume a session of TLS', async () => {
  const port = edge.tlsPort;
  const first = tls.connect({ port, host: '127.0.0.1', ca });
  const [session] = await once(first, 'session');
  first.destroy();
  const second = tls.connect({ port, host: '127.0.0.1', ca, session });
  onTestFinished(() => void second.destroy());

  await once(second, 'secureConnect');

  expect(second.isSessionReused()).toBe(true);
});

test('a body of HTTP/2 arrives complete, up to the limit', async () => {
  const post = (bytes: number) =>
    send(connect(), { ':method': 'POST', ':path': '/api/v2/users' }, Buffer.alloc(bytes, 'a'));

  const [accepted, rejected] = [await post(1024 ** 2), await post(1024 ** 2 + 1)];

  expect(JSON.parse(accepted.text)).toMatchObject({ method: 'POST', bytes: 1024 ** 2 });
  expect(JSON.parse(rejected.text)).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
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

test('HTTP/2 allows 128 requests at a time; a header over 8 KiB ends the connection', async () => {
  const session = connect();
  const goaway = once(session, 'goaway');
  const [settings] = await once(session, 'remoteSettings');

  const response = send(session, { ':path': '/', 'x-long': 'a'.repeat(20_000) });

  await expect(response).rejects.toThrow();
  const [code] = await goaway;
  expect(code).toBe(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  expect(settings.maxConcurrentStreams).toBe(128);
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

test('a terminating pod closes connections of HTTP/1.1 with their response, and those of HTTP/2 by GOAWAY', async () => {
  const own = await startRenderedEdge({ objects, users, certificate });
  const session = connect(own.tlsPort);
  await once(session, 'connect');
  fs.writeFileSync(path.join(own.prefix, 'ending'), '');

  const h2 = await send(session, { ':path': '/api/v1/users' });
  const h1 = await get(`https://127.0.0.1:${own.tlsPort}/api/v1/users`);
  const goaway = once(session, 'goaway');
  await own.stop();
  const [code] = await goaway;

  expect([h2.status, h2.headers.connection]).toEqual([200, undefined]);
  expect([h1.status, h1.headers.connection]).toEqual([200, 'close, close']);
  expect(code).toBe(http2.constants.NGHTTP2_NO_ERROR);
});

test('new connections get a renewed certificate, or fail with the key of another one; open ones stay', async () => {
  const own = await startRenderedEdge({ objects, users, certificate });
  onTestFinished(() => own.stop());
  const folder = path.join(own.prefix, 'tls');
  const renewed = issueCertificate(['127.0.0.1']);
  const session = connect(own.tlsPort);
  const statusOfOpen = () =>
    send(session, { ':path': '/api/v1/users' }).then(({ status }) => status);
  expect(await statusOfOpen()).toBe(200);

  writeSecretVolume(folder, { ...renewed });
  const fingerprint = await fingerprintOf(own.tlsPort);
  const logged = own.log();
  writeSecretVolume(folder, { ...renewed, 'tls.key': certificate['tls.key'] });
  const failed = fingerprintOf(own.tlsPort);

  await expect(failed).rejects.toThrow('alert internal error');
  expect(own.log()).toMatch(/key values mismatch/);
  expect([fingerprint, logged]).toEqual([
    new X509Certificate(renewed['tls.crt']).fingerprint256,
    '',
  ]);
  expect(await statusOfOpen()).toBe(200);
  expect((await get(`http://127.0.0.1:${own.port}/page/index.html`)).status).toBe(200);
});
