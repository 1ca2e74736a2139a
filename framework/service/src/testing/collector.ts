import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span that a collector received. */
export interface ReceivedSpan {
  /** The name of the service that sent it. */
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 2: server, 3: client. */
  readonly kind: number;
  /** `code` 2: error. */
  readonly status: { readonly code: number };
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The attributes of the process that sent it. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A receiver of spans on a free port (OTLP over HTTP, in JSON). */
export interface Collector {
  /** The value of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  /** The spans received so far. */
  spans(): readonly ReceivedSpan[];
  /** Closes the port. */
  stop(): void;
}

/** Starts a receiver of spans; the caller stops it. */
export async function startCollector(): Promise<Collector> {
  const received: ReceivedSpan[] = [];
  const server = createServer(async (req, res) => {
    const text = Buffer.concat(await req.toArray()).toString();
    if (req.url === '/v1/traces') received.push(...readSpans(JSON.parse(text)));
    res.writeHead(req.url === '/v1/traces' ? 200 : 404).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => received,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

type Attributes = readonly { readonly key: string; readonly value: object }[];

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'service' | 'resource'> & {
        readonly attributes: Attributes;
      })[];
    }[];
  }[];
}

function readSpans({ resourceSpans }: Export): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource: sender, scopeSpans }) => {
    const resource = readAttributes(sender.attributes);
    const service = String(resource['service.name']);
    return scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({ ...span, service, resource, attributes: readAttributes(span.attributes) }));
  });
}

function readAttributes(attributes: Attributes): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
