import { spawn } from 'node:child_process';
import http from 'node:http';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

import { readEdgeSpan } from './edge-span.ts';
import { toZipkin, type ZipkinSpan } from './zipkin-span.ts';

/**
 * `node collector.ts --port 9398 --zipkin http://127.0.0.1:9411 --log edge.log` sends spans to Zipkin: those
 * of the services, which it receives (OTLP over HTTP, in JSON), and those of the edge, from its access log.
 */
const { port, zipkin, log } = parseArgs({
  options: {
    port: { type: 'string', default: '4318' },
    zipkin: { type: 'string', default: 'http://127.0.0.1:9411' },
    log: { type: 'string', default: 'edge.log' },
  },
}).values;

const FLUSH_MS = 500;
/** Further spans are dropped, so that an unavailable Zipkin costs no memory. */
const MAX_SPANS = 10_000;
const waiting: ZipkinSpan[] = [];

function add(spans: readonly ZipkinSpan[]): void {
  waiting.push(...spans.slice(0, MAX_SPANS - waiting.length));
}

async function flush(): Promise<void> {
  const spans = waiting.splice(0);
  if (spans.length === 0) return;
  await fetch(`${zipkin}/api/v2/spans`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(spans),
    signal: AbortSignal.timeout(5_000),
  }).catch(({ message }: Error) => console.error(`Cannot send ${spans.length} spans: ${message}`));
}

const server = http.createServer(async (request, response) => {
  try {
    const body = Buffer.concat(await request.toArray()).toString();
    if (request.method === 'POST') add(toZipkin(JSON.parse(body)));
    response.setHeader('content-type', 'application/json').end('{}');
  } catch (error) {
    response.writeHead(400).end(String(error));
  }
});
server.listen(Number(port), '127.0.0.1');
// The edge replaces the file when it restarts: -F opens the new one.
const tail = spawn('tail', ['-n', '0', '-F', log], { stdio: ['ignore', 'pipe', 'ignore'] });
createInterface(tail.stdout).on('line', (line) => {
  const span = readEdgeSpan(line);
  if (span) add([span]);
});
setInterval(flush, FLUSH_MS);
process.on('exit', () => tail.kill());
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit());
