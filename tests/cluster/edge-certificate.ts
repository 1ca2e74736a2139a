import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';

import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { type Certificate, issueCertificate } from '../../deploy/local/testing/certificate.ts';
import { nodeHost } from './nodes.ts';
import { podsOf } from './pods.ts';
import type { World } from './world.ts';

/** The Secret with the certificate of the edge. */
export const SECRET = 'edge-tls';
/** New connections that must all get the new certificate: every pod of the edge has it. */
const CONNECTIONS = 20;

/** The certificate of the edge, before and after its renewal. */
export interface Certificates {
  readonly first: Certificate;
  readonly renewed: Certificate;
}

/** Issues the certificates, and makes this process and the programs that it starts trust them. */
export async function issueCertificates(world: World): Promise<Certificates> {
  const host = await nodeHost(world);
  const first = issueCertificate([host]);
  // The same key, as with cert-manager's rotationPolicy Never: no handshake can read two that do not match.
  const renewed = issueCertificate([host], { key: first['tls.key'] });
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-e2e-tls-'));
  world.onCleanUp(async () => fs.rmSync(folder, { recursive: true }));
  const trusted = [first['tls.crt'], renewed['tls.crt']];
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...trusted]);
  const file = path.join(folder, 'ca.crt');
  fs.writeFileSync(file, trusted.join(''));
  // Of k6, and of Node.
  Object.assign(process.env, { SSL_CERT_FILE: file, NODE_EXTRA_CA_CERTS: file });
  return { first, renewed };
}

/** Writes the Secret of the edge. */
export async function applyCertificate(world: World, certificate: Certificate): Promise<void> {
  const { cluster, namespace } = world;
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { name: SECRET, namespace },
    stringData: { ...certificate },
  });
  // A changed annotation makes the kubelet update the volumes of the pod now instead of within two minutes.
  for (const { metadata } of await podsOf(world, 'edge')) {
    const annotation = `renewed=${Date.now()}`;
    const where = ['--namespace', namespace];
    await cluster.kubectl(['annotate', '--overwrite', 'pod', metadata.name, annotation, ...where]);
  }
}

/** Waits until new connections get the certificate from every pod of the edge. */
export async function waitForCertificate(
  { cluster }: World,
  base: string,
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

/** Opens 10 connections per second, one after another, during the changes; asserts that none fails. */
export async function connectDuring(base: string, changes: () => Promise<void>): Promise<void> {
  const stopped = new AbortController();
  const failed: string[] = [];
  const connecting = (async () => {
    while (!stopped.signal.aborted) {
      await fingerprintOf(base).catch((error: Error) => failed.push(error.message));
      await sleep(100);
    }
  })();
  try {
    await changes();
  } finally {
    stopped.abort();
    await connecting;
  }
  assert.deepEqual(failed, []);
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

/** Sends a request by HTTP/2; returns the status, and the protocol of the connection. */
export async function getByHttp2(base: string, target: string) {
  const session = http2.connect(base);
  try {
    const [response] = await once(session.request({ ':path': target }), 'response');
    return { status: response[':status'], protocol: session.alpnProtocol };
  } finally {
    session.destroy();
  }
}
