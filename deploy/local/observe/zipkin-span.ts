/** A span in the format of Zipkin (https://zipkin.io/zipkin-api/); times are in microseconds. */
export interface ZipkinSpan {
  readonly traceId: string;
  readonly id: string;
  readonly parentId?: string;
  readonly name: string;
  readonly kind?: 'SERVER' | 'CLIENT';
  readonly timestamp: number;
  readonly duration: number;
  readonly localEndpoint: { readonly serviceName: string };
  readonly remoteEndpoint?: { readonly serviceName: string };
  readonly tags: Readonly<Record<string, string>>;
}

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

/** The spans of one export (OTLP in JSON). */
export interface OtlpExport {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** The spans of an export, in the format of Zipkin. */
export function toZipkin({ resourceSpans }: OtlpExport): ZipkinSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = readTags(resource.attributes)['service.name'] ?? 'unknown';
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => convert(service, span)));
  });
}

const KINDS = { 2: 'SERVER', 3: 'CLIENT' } as const;

function convert(serviceName: string, span: OtlpSpan): ZipkinSpan {
  const tags = readTags(span.attributes);
  const kind = KINDS[span.kind as keyof typeof KINDS];
  const { 'db.system.name': database } = tags;
  const start = BigInt(span.startTimeUnixNano);
  return {
    traceId: span.traceId,
    id: span.spanId,
    ...(span.parentSpanId && { parentId: span.parentSpanId }),
    name: span.name,
    ...(kind && { kind }),
    timestamp: Number(start / 1_000n),
    duration: Math.max(1, Number((BigInt(span.endTimeUnixNano) - start) / 1_000n)),
    localEndpoint: { serviceName },
    ...(database && { remoteEndpoint: { serviceName: database } }),
    // Zipkin marks spans with the tag "error".
    tags: span.status.code === 2 ? { ...tags, error: span.status.message ?? '' } : tags,
  };
}

function readTags(attributes: Attributes): Record<string, string> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, `${Object.values(value)[0]}`]),
  );
}
