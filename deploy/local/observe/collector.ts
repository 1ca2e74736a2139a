import http from 'node:http';
import { parseArgs } from 'node:util';

/**
 * `node collector.ts --port 9398 --zipkin http://127.0.0.1:9411` receives the spans of the services (OTLP over
 * HTTP, in JSON) and sends them to Zipkin, which has no released module that accepts OTLP.
 */
const { port, zipkin } = parseArgs({
  options: {
    port: { type: 'string', default: '4318' },
    zipkin: { type: 'string', default: 'http://127.0.0.1:9411' },
  },
}).values;

/** Larger exports are rejected. The exporter of a service sends at most 512 spans at once. */
const MAX_BYTES = 4 * 1024 ** 2;

type Attributes = readonly {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}[];

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Attributes;
  readonly status: { readonly code?: number; readonly message?: string };
}

interface OtlpExport {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

http
  .createServer(async (request, response) => {
    try {
      if (request.method === 'POST') await forward(JSON.parse(await readBody(request)));
      response.setHeader('content-type', 'application/json').end('{}');
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  })
  .listen(Number(port), '127.0.0.1');
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit());

async function readBody(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new RangeError(`Expected at most ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Sends the spans in the format of Zipkin (https://zipkin.io/zipkin-api/). */
async function forward({ resourceSpans }: OtlpExport): Promise<void> {
  const spans = resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = readTags(resource.attributes)['service.name'] ?? 'unknown';
    return scopeSpans.flatMap((scope) => scope.spans.map((span) => toZipkin(service, span)));
  });
  await fetch(`${zipkin}/api/v2/spans`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(spans),
    signal: AbortSignal.timeout(5_000),
  });
}

function toZipkin(serviceName: string, span: OtlpSpan): object {
  const tags = readTags(span.attributes);
  const start = BigInt(span.startTimeUnixNano);
  const database = tags['db.system.name'];
  return {
    traceId: span.traceId,
    id: span.spanId,
    parentId: span.parentSpanId || undefined,
    name: span.name,
    kind: { 2: 'SERVER', 3: 'CLIENT' }[span.kind],
    // In microseconds.
    timestamp: Number(start / 1_000n),
    duration: Math.max(1, Number((BigInt(span.endTimeUnixNano) - start) / 1_000n)),
    localEndpoint: { serviceName },
    remoteEndpoint: database && { serviceName: database },
    // Zipkin marks spans with the tag "error".
    tags: span.status.code === 2 ? { ...tags, error: span.status.message ?? '' } : tags,
  };
}

function readTags(attributes: Attributes): Record<string, string> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, `${Object.values(value)[0]}`]),
  );
}
