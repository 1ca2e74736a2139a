import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';

import { waitFor } from '../../../deploy/local/cluster/cluster.ts';
import { type Certificate, issueCertificate } from '../../../deploy/local/testing/certificate.ts';
import { restart } from '../changes.ts';
import { installPlatform, nodeHost, type Platform } from '../platform.ts';
import { podsOf, restartsOf } from '../pods.ts';
import { scenario, type World } from '../scenario.ts';
import { startStream } from '../stream.ts';

const SECRET = 'edge-tls';
/** New connections that must all get the new certificate: every pod of the edge has it. */
const CONNECTIONS = 20;
/** Less than in `rollout`: the certificate is the subject, not the load. */
const RATE = 100;

scenario({
  name: 'edge-tls',
  title:
    'the edge serves both versions by HTTP/2, and loses no request while its certificate is renewed and its pods are replaced',
  seconds: 420,
  async run(world) {
    const { cluster, log } = world;
    const host = await nodeHost(world);
    const first = issueCertificate([host]);
    // The same key, as with cert-manager's rotationPolicy Never: no handshake can read two that do not match.
    const renewed = issueCertificate([host], first['tls.key']);
    const file = trust(world, first, renewed);
    await applySecret(world, first);
    const platform = await installPlatform(world, { edge: { tls: { secretName: SECRET } } });
    await platform.release.test();

    log('requests of both versions by HTTP/2');
    for (const target of ['/', '/api/v1/users', '/api/v2/users', '/api/v2/catalog?limit=1']) {
      assert.deepEqual(await getByHttp2(platform.base, target), { status: 200, protocol: 'h2' });
    }

    log(`renewing the certificate during ${RATE} requests per second`);
    const stream = startStream(world, platform, { rate: RATE, env: { SSL_CERT_FILE: file } });
    const connections = connectRepeatedly(platform.base);
    try {
      await applySecret(world, renewed);
      await waitForCertificate(world, platform, renewed);
      await restart(world, ['fw-edge']);
      await sleep(15_000, undefined, { signal: cluster.signal });
    } catch (error) {
      await stream.stop().catch(() => {});
      throw error;
    } finally {
      await connections.stop();
    }
    const { requests } = await stream.end();
    const { opened, failed } = await connections.stop();
    log(`none of ${requests} requests and of ${opened} new connections was lost`);
    assert.deepEqual(failed, []);
    assert.ok(requests > 1_000 && opened > 100, 'too few requests or connections');
    assert.equal(restartsOf(await podsOf(world, 'edge')), 0, 'the edge was restarted');
  },
});

/** Makes this process trust the certificates; returns a file with them, for k6. */
function trust(world: World, ...certificates: readonly Certificate[]): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-e2e-tls-'));
  world.onCleanUp(async () => fs.rmSync(folder, { recursive: true }));
  const trusted = certificates.map((one) => one['tls.crt']);
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...trusted]);
  const file = path.join(folder, 'ca.crt');
  fs.writeFileSync(file, trusted.join(''));
  return file;
}

async function applySecret({ cluster, namespace }: World, certificate: Certificate): Promise<void> {
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { name: SECRET, namespace },
    stringData: { ...certificate },
  });
  // A changed annotation makes the kubelet update the volumes of the pod now instead of within two minutes.
  for (const { metadata } of await podsOf({ cluster, namespace }, 'edge')) {
    await cluster.kubectl([
      ...['annotate', 'pod', metadata.name, `renewed=${Date.now()}`, '--namespace', namespace],
    ]);
  }
}

async function getByHttp2(base: string, target: string) {
  const session = http2.connect(base);
  try {
    const [response] = await once(session.request({ ':path': target }), 'response');
    return { status: response[':status'], protocol: session.alpnProtocol };
  } finally {
    session.destroy();
  }
}

/** The fingerprint of the certificate that a new connection gets. */
async function fingerprintOf(base: string): Promise<string> {
  const { hostname: host, port } = new URL(base);
  const socket = tls.connect({ host, port: Number(port) });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(10_000) });
    return socket.getPeerX509Certificate()?.fingerprint256 ?? '';
  } finally {
    socket.destroy();
  }
}

/** Opens 10 connections per second, one after another, until it is stopped. */
function connectRepeatedly(base: string) {
  const stopped = new AbortController();
  const failed: string[] = [];
  let opened = 0;
  const running = (async () => {
    while (!stopped.signal.aborted) {
      await fingerprintOf(base).catch((error: Error) => failed.push(error.message));
      opened += 1;
      await sleep(100);
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await running;
      return { opened, failed };
    },
  };
}

async function waitForCertificate(
  { cluster }: World,
  { base }: Platform,
  certificate: Certificate,
): Promise<void> {
  const { fingerprint256 } = new X509Certificate(certificate['tls.crt']);
  await waitFor({ cluster, what: 'the renewed certificate', seconds: 150 }, async () => {
    for (let count = 0; count < CONNECTIONS; count += 1) {
      if ((await fingerprintOf(base)) !== fingerprint256) return undefined;
    }
    return true;
  });
}
