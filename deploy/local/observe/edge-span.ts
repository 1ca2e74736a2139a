import type { ZipkinSpan } from './zipkin-span.ts';

/** A line of the edge's access log, as nginx.conf defines it. */
interface EdgeEntry {
  readonly traceId: string;
  readonly traceparent: string;
  readonly spanId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly endSeconds: number;
  readonly seconds: number;
  /** Empty if the edge tried no replica. */
  readonly upstream: string;
}

/** The span of a line of the edge's log; `undefined` if its trace is not sampled or the edge tried no replica. */
export function readEdgeSpan(line: string): ZipkinSpan | undefined {
  const entry = readEntry(line);
  const [, , parentId, flags = '0'] = entry?.traceparent.split('-') ?? [];
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  if (!entry || !isSampled || entry.upstream === '') return undefined;
  const { traceId, spanId, method, path, status, endSeconds, seconds } = entry;
  const duration = Math.max(1, Math.round(seconds * 1_000_000));
  return {
    traceId,
    id: spanId,
    // The edge began the trace if traceparent names its own span. Otherwise the client's span is the
    // parent of both this span and the service's: they are siblings.
    ...(parentId && parentId !== spanId && { parentId }),
    name: `${method} ${collectionOf(path)}`,
    kind: 'SERVER',
    timestamp: Math.round(endSeconds * 1_000_000) - duration,
    duration,
    localEndpoint: { serviceName: 'edge' },
    tags: {
      'http.response.status_code': String(status),
      'url.path': path,
      upstream: entry.upstream,
      ...(status >= 500 && { error: String(status) }),
    },
  };
}

/** `/api/v2/users` for `/api/v2/users/7`. */
function collectionOf(path: string): string {
  return path.split('/').slice(0, 4).join('/');
}

/** nginx also writes warnings to the log. */
function readEntry(line: string): EdgeEntry | undefined {
  try {
    const entry: EdgeEntry = JSON.parse(line);
    return typeof entry.traceparent === 'string' ? entry : undefined;
  } catch {
    return undefined;
  }
}
