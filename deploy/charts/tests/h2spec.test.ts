import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';
import { ensureTool } from '../../../tools/programs.ts';
import { issueCertificate } from '../../local/testing/certificate.ts';
import { listenAnywhere } from '../../local/testing/ports.ts';
import { charts } from './render.ts';
import { startRenderedEdge } from './rendered-edge.ts';

/** The cases of h2spec 2.2.1. */
const CASES = 145;

/** The cases that every nginx fails, by the reason. They do not depend on its configuration. */
const FAILED_BY_NGINX: Readonly<Record<string, readonly string[]>> = {
  'responds with 400 to a malformed request instead of resetting the stream (RFC 9113 §8.1.1 allows it)':
    [
      'http2/8.1.2 Sends a HEADERS frame that contains the header field name in uppercase letters',
      'http2/8.1.2.1 Sends a HEADERS frame that contains a unknown pseudo-header field',
      'http2/8.1.2.1 Sends a HEADERS frame that contains the pseudo-header field defined for response',
      'http2/8.1.2.3 Sends a HEADERS frame with empty ":path" pseudo-header field',
      'http2/8.1.2.3 Sends a HEADERS frame that omits ":method" pseudo-header field',
      'http2/8.1.2.3 Sends a HEADERS frame that omits ":scheme" pseudo-header field',
      'http2/8.1.2.3 Sends a HEADERS frame that omits ":path" pseudo-header field',
      'http2/8.1.2.3 Sends a HEADERS frame with duplicated ":method" pseudo-header field',
      'http2/8.1.2.3 Sends a HEADERS frame with duplicated ":scheme" pseudo-header field',
      'http2/8.1.2.3 Sends a HEADERS frame with duplicated ":path" pseudo-header field',
      'http2/8.1.2.6 Sends a HEADERS frame with the "content-length" header field which does not equal the DATA frame payload length',
      'http2/8.1.2.6 Sends a HEADERS frame with the "content-length" header field which does not equal the sum of the multiple DATA frames payload length',
    ],
  'accepts frames of 16 MiB, as its SETTINGS say; h2spec expects the default of 16 KiB': [
    'http2/4.2 Sends a large size DATA frame that exceeds the SETTINGS_MAX_FRAME_SIZE',
    'http2/4.2 Sends a large size HEADERS frame that exceeds the SETTINGS_MAX_FRAME_SIZE',
  ],
  'ignores frames of streams that are not open': [
    'http2/5.1 idle: Sends a DATA frame',
    'http2/5.1 idle: Sends a RST_STREAM frame',
    'http2/5.1 idle: Sends a WINDOW_UPDATE frame',
    'http2/5.1 closed: Sends a DATA frame after sending RST_STREAM frame',
    'http2/5.1 closed: Sends a DATA frame',
    'http2/6.4 Sends a RST_STREAM frame on a idle stream',
  ],
  'accepts headers that HTTP/2 forbids; the edge sends no Connection header on to a service': [
    'http2/8.1.2.1 Sends a HEADERS frame that contains a pseudo-header field that appears in a header block after a regular header field',
    'http2/8.1.2.2 Sends a HEADERS frame that contains the connection-specific header field',
    'http2/8.1.2.2 Sends a HEADERS frame that contains the TE header field with any value other than "trailers"',
  ],
  'is lenient about the compression of headers': [
    'hpack/4.2 Sends a dynamic table size update at the end of header block',
    'hpack/5.2 Sends a Huffman-encoded string literal representation with padding longer than 7 bits',
  ],
  'closes the connection if a request has trailers, which it does not support': [
    'generic/4 Sends a POST request with trailers',
  ],
};

/** Runs every case of h2spec, and returns those that failed. */
async function runH2spec(port: number, report: string) {
  const address = ['--host', '127.0.0.1', '--port', String(port), '--tls', '--insecure'];
  const args = [...address, '--path', '/api/v1/users', '--junit-report', report];
  // Exits with 1 if a case failed.
  await new Promise((resolve) => execFile(ensureTool('h2spec'), args, resolve));
  const cases = fs
    .readFileSync(report, 'utf8')
    .matchAll(/<testcase package="(.+?)" classname="(.+?)"[^>]*>(.*?)<\/testcase>/gs);
  return [...cases].map(([, section, title, result = '']) => ({
    name: `${section} ${title}`.replaceAll('&#34;', '"'),
    isFailed: /<(failure|error)/.test(result),
  }));
}

test('the edge passes h2spec, except for the cases that nginx fails', {
  timeout: 240_000,
}, async () => {
  // The stream of a request stays open for a while, so that the cases reach it.
  const users = http.createServer((_, response) => setTimeout(() => response.end('{}'), 200));
  onTestFinished(() => void users.close());
  const edge = await startRenderedEdge({
    objects: charts.render('platform', { edge: { tls: { secretName: 'edge-tls' } } }),
    users: await listenAnywhere(users),
    certificate: issueCertificate(['127.0.0.1']),
  });
  onTestFinished(() => edge.stop());

  const cases = await runH2spec(edge.tlsPort, path.join(edge.prefix, 'h2spec.xml'));

  const known = Object.values(FAILED_BY_NGINX).flat();
  const failed = cases.filter(({ isFailed }) => isFailed).map(({ name }) => name);
  expect(cases).toHaveLength(CASES);
  expect(failed.filter((name) => !known.includes(name))).toEqual([]);
});
