import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  type Attributes,
  type Context as Parent,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Context } from 'fw';

import {
  type RequestTrace,
  readTraceparent,
  schemeOf,
  type TracedStatement,
  type Tracing,
  turnStatementSpansOn,
} from './tracing.ts';
import type { SAMPLERS } from './tracing-variables.ts';

/** How long spans are collected before they are sent. */
const SEND_INTERVAL_MS = 1_000;

/** How long the shutdown waits for the collector. */
const CLOSE_MS = 2_000;

export interface TracingOptions {
  readonly service: string;
  /** Default: spans have no version. */
  readonly version?: string;
  /** The address of the collector, without `/v1/traces`. Default: that in the `OTEL_EXPORTER_OTLP_` variables. */
  readonly endpoint?: string;
  /** Default: `parentbased_always_on`. */
  readonly sampler?: (typeof SAMPLERS)[number];
  /** The share of requests that the samplers with `traceidratio` choose. Default 1. */
  readonly ratio?: number;
}

/**
 * Sends the spans of sampled requests by OTLP over HTTP, in JSON. The client, or a proxy, decides with
 * `traceparent` whether a request is sampled. A request without the header is sampled: its trace begins here.
 * The exporter reads `OTEL_EXPORTER_OTLP_*`, the resource `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME`.
 */
export function createTracing({
  service,
  version,
  endpoint,
  sampler = 'parentbased_always_on',
  ratio = 1,
}: TracingOptions): Tracing {
  const exporter = new OTLPTraceExporter(
    endpoint === undefined ? {} : { url: `${endpoint.replace(/\/+$/, '')}/v1/traces` },
  );
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          'service.name': service,
          ...(version !== undefined && { 'service.version': version }),
          'service.instance.id': randomUUID(),
        }),
      )
      .merge(
        detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
      ),
    sampler: createSampler(sampler, ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: SEND_INTERVAL_MS })],
  });
  const tracer = provider.getTracer('@fw/service');

  turnStatementSpansOn();
  return {
    begin(ctx) {
      const attributes = {
        'http.request.method': ctx.method,
        'url.path': ctx.path,
        'url.scheme': schemeOf(ctx),
      };
      const span = tracer.startSpan(
        ctx.method,
        { kind: SpanKind.SERVER, attributes },
        parentOf(ctx),
      );
      return describe(ctx.method, span, tracer);
    },
    async close() {
      await Promise.race([
        provider.shutdown().catch(() => {}),
        sleep(CLOSE_MS, undefined, { ref: false }),
      ]);
    },
  };
}

function createSampler(name: (typeof SAMPLERS)[number], ratio: number): Sampler {
  let root: Sampler = new TraceIdRatioBasedSampler(ratio);
  if (name.endsWith('always_on')) root = new AlwaysOnSampler();
  if (name.endsWith('always_off')) root = new AlwaysOffSampler();
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function parentOf(ctx: Context): Parent {
  const parent = readTraceparent(ctx.get('traceparent'));
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags & 1,
    isRemote: true,
  });
}

function describe(method: string, span: Span, tracer: Tracer): RequestTrace {
  const beginChild = (name: string, attributes: Attributes) =>
    tracer.startSpan(
      name,
      { kind: SpanKind.CLIENT, attributes },
      trace.setSpan(ROOT_CONTEXT, span),
    );
  return {
    traceId: span.spanContext().traceId,
    call(target) {
      const call = beginChild(target.method, callAttributes(target));
      const { traceId, spanId, traceFlags } = call.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-0${traceFlags & 1}`,
        end(outcome) {
          if ('status' in outcome) setStatus(call, outcome.status, 400);
          else call.setStatus({ code: SpanStatusCode.ERROR, message: String(outcome.error) });
          call.end();
        },
      };
    },
    beginStatement(statement) {
      const attributes = statementAttributes(statement);
      const query = beginChild(attributes['db.query.summary'], attributes);
      return (error) => {
        if (error !== undefined) setStatementError(query, error);
        query.end();
      };
    },
    end({ route, status }) {
      if (route !== '') {
        span.updateName(`${method} ${route}`);
        span.setAttribute('http.route', route);
      }
      setStatus(span, status, 500);
      span.end();
    },
  };
}

function callAttributes({ method, url }: { method: string; url: URL }): Attributes {
  return {
    'http.request.method': method,
    'server.address': url.hostname,
    'server.port': Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
    'url.full': url.href,
  };
}

/** A status from `errorFrom` on is an error; in a client span 4xx is one too (HTTP semantic conventions). */
function setStatus(span: Span, status: number, errorFrom: number): void {
  span.setAttribute('http.response.status_code', status);
  if (status < errorFrom) return;
  span.setAttribute('error.type', String(status));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/**
 * The attributes of the span of a statement, without its values:
 * https://opentelemetry.io/docs/specs/semconv/db/database-spans/
 */
function statementAttributes({ database, text, batchSize }: TracedStatement) {
  const { system, namespace, host, port } = database;
  const { operation, table } = readStatementName(text);
  return {
    'db.system.name': system,
    'db.operation.name': operation,
    'db.query.summary': table === undefined ? operation : `${operation} ${table}`,
    ...(table !== undefined && { 'db.collection.name': table }),
    ...(namespace && { 'db.namespace': namespace }),
    ...(host && { 'server.address': host }),
    ...(port && { 'server.port': Number(port) }),
    // The conventions reserve 1 for databases that have batches.
    ...(batchSize > 1 && { 'db.operation.batch.size': batchSize }),
  };
}

/** Records the code of a failed statement: SQLSTATE, or the result code of SQLite. Messages contain values. */
function setStatementError(span: Span, error: unknown): void {
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  const status = errcode ?? code;
  if (status !== undefined) span.setAttribute('db.response.status_code', String(status));
  span.setAttribute('error.type', String(status ?? (error as Error).name));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

const CHANGE =
  /\b(INSERT)\s+(?:OR\s+\w+\s+)?INTO\s+([\w."]+)|\b(DELETE)\s+FROM\s+([\w."]+)|(?<!\b(?:FOR|KEY)\s+)\b(UPDATE)\s+(?!SET\b)([\w."]+)/i;
const READ = /\bFROM\s+(?!\w+\s*\()([\w."]+)/i;

/**
 * Reads the operation of a statement, such as `SELECT`, and the table that it mainly uses from its text,
 * without its values: the first change, otherwise what it reads. `WITH … INSERT INTO users …` is `INSERT`
 * of `users`.
 */
export function readStatementName(text: string): {
  readonly operation: string;
  readonly table?: string | undefined;
} {
  const [, ...change] = CHANGE.exec(text) ?? [];
  const [operation, table] = change.filter((part) => part !== undefined);
  if (operation !== undefined) return { operation: operation.toUpperCase(), table };
  const [first = ''] = /[a-z]+/i.exec(text) ?? [];
  const keyword = first.toUpperCase();
  return { operation: keyword === 'WITH' ? 'SELECT' : keyword, table: READ.exec(text)?.[1] };
}
