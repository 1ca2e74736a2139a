import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type net from 'node:net';
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
function connect(port = edge.tlsPort, options: http2.SecureClientSessionOptions = { ca }) {
  const session = http2.connect(`https://127.0.0.1:${port}`, options);
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
async function get(
  url: string,
  { method = 'GET', agent, headers }: https.RequestOptions = {},
): Promise<Received & { readonly socket: net.Socket }> {
  const client = url.startsWith('https:') ? https : http;
  const request = client.request(url, { method, agent: agent ?? false, headers, ca }).end();
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  if (!response) throw new Error('no response');
  const text = Buffer.concat(await response.toArray()).toString();
  const { statusCode: status, socket } = response;
  return { status, headers: response.headers, text, socket };
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

test('the Service, the pods and the NetworkPolicy of the edge have the port of TLS', () => {
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
});

test('helm test calls the edge by TLS', () => {
  const { spec } = only(objects, 'Pod', 'fw-edge-test');
  const policy = only(objects, 'NetworkPolicy', 'fw-edge-test').spec;

  expect(spec.containers[0].env).toContainEqual({ name: 'BASE', value: 'https://fw-edge:443' });
  expect(policy.egress[1].ports).toEqual([{ port: 8443 }]);
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

test.each(['http/1.1', 'HTTP/2'])(
  'a body of %s arrives complete, up to the limit',
  async (protocol) => {
    const post = async (bytes: number): Promise<Received> => {
      const body = Buffer.alloc(bytes, 'a');
      if (protocol === 'HTTP/2') {
        return send(connect(), { ':method': 'POST', ':path': '/api/v2/users' }, body);
      }
      const request = https.request(`https://127.0.0.1:${edge.tlsPort}/api/v2/users`, {
        ...{ method: 'POST', ca, agent: false },
      });
      request.end(body);
      const [response]: http.IncomingMessage[] = await once(request, 'response');
      const text = Buffer.concat((await response?.toArray()) ?? []).toString();
      return { status: response?.statusCode, headers: response?.headers ?? {}, text };
    };

    const [accepted, rejected] = [await post(1024 ** 2), await post(1024 ** 2 + 1)];

    expect(JSON.parse(accepted.text)).toMatchObject({ method: 'POST', bytes: 1024 ** 2 });
    expect(rejected.status).toBe(413);
    expect(JSON.parse(rejected.text).code).toBe('PAYLOAD_TOO_LARGE');
  },
);

test.each([
  ['an unknown path', { ':path': '/nowhere' }, 404, 'NOT_FOUND'],
  ['an unavailable service', { ':path': '/api/v1/reports' }, 502, 'BAD_GATEWAY'],
  ['an invalid path', { ':path': '/api/v1/users/%ZZ' }, 400, 'BAD_REQUEST'],
  ['a method of the page', { ':path': '/', ':method': 'PUT' }, 405, 'METHOD_NOT_ALLOWED'],
])('HTTP/2: %s gets a problem', async (_, headers, status, code) => {
  const received = await send(connect(), headers);

  expect(received.status).toBe(status);
  expect(received.headers).toMatchObject({
    'content-type': 'application/problem+json',
    'strict-transport-security': HSTS,
  });
  expect(JSON.parse(received.text)).toMatchObject({ status, code });
});

test('a header over 8 KiB ends a connection of HTTP/2 with ENHANCE_YOUR_CALM', async () => {
  const session = connect();
  const goaway = once(session, 'goaway');

  const response = send(session, { ':path': '/', 'x-long': 'a'.repeat(20_000) });

  await expect(response).rejects.toThrow();
  const [code] = await goaway;
  expect(code).toBe(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  expect((await send(connect(), { ':path': '/' })).status).toBe(200);
});

test('a client may have 128 requests at a time on one connection', async () => {
  const session = connect();
  const [settings] = await once(session, 'remoteSettings');

  expect(settings.maxConcurrentStreams).toBe(128);
});

test.each([
  ['GET', '/'],
  ['POST', '/api/v2/users?a=1'],
  ['DELETE', '/api/v1/users//7%2F'],
])('%s %s without TLS is redirected with its method and path', async (method, target) => {
  const { status, headers } = await get(`http://127.0.0.1:${edge.port}${target}`, { method });

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

test('a renewed certificate is used by new connections; open ones stay, and no request is lost', async () => {
  const own = await startRenderedEdge({ objects, users, certificate });
  onTestFinished(() => own.stop());
  const url = `https://127.0.0.1:${own.tlsPort}/api/v1/users`;
  const renewed = issueCertificate(['127.0.0.1']);
  const session = connect(own.tlsPort);
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca });
  onTestFinished(() => agent.destroy());
  const { socket } = await get(url, { agent });
  const statuses: (number | undefined)[] = [];
  const stopped = new AbortController();
  const stream = async (one: () => Promise<Received>) => {
    while (!stopped.signal.aborted) statuses.push((await one()).status);
  };
  const streams = [
    stream(() => send(session, { ':path': '/api/v1/users' })),
    stream(() => send(session, { ':path': '/api/v1/users', ':method': 'POST' }, Buffer.from('a'))),
    stream(() => get(url, { agent })),
  ];
  const old = await fingerprintOf(own.tlsPort);

  writeSecretVolume(path.join(own.prefix, 'tls'), { ...renewed });
  const next = await fingerprintOf(own.tlsPort);
  const before = statuses.length;
  await expect.poll(() => statuses.length, { timeout: 20_000 }).toBeGreaterThan(before + 100);
  stopped.abort();
  await Promise.all(streams);

  const { fingerprint256 } = new X509Certificate(renewed['tls.crt']);
  expect(next).toBe(fingerprint256);
  expect(next).not.toBe(old);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(session.closed).toBe(false);
  expect((await get(url, { agent })).socket).toBe(socket);
  expect(own.log()).toBe('');
});

test('with a key of another certificate, new connections fail until it is replaced, and the log names the file', async () => {
  const own = await startRenderedEdge({ objects, users, certificate });
  onTestFinished(() => own.stop());
  const folder = path.join(own.prefix, 'tls');
  const session = connect(own.tlsPort);
  await once(session, 'connect');

  writeSecretVolume(folder, { ...certificate, 'tls.key': issueCertificate(['a'])['tls.key'] });

  await expect(fingerprintOf(own.tlsPort)).rejects.toThrow('alert internal error');
  expect((await send(session, { ':path': '/api/v1/users' })).status).toBe(200);
  const alive = await get(`http://127.0.0.1:${own.port}/page/index.html`);
  expect(alive.status).toBe(200);
  expect(own.log()).toMatch(/key values mismatch/);
  writeSecretVolume(folder, { ...certificate });
  expect(await fingerprintOf(own.tlsPort)).not.toBe('');
});
