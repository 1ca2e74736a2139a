import { setTimeout as sleep } from 'node:timers/promises';

import {
  type Attributes,
  type Context as Parent,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Context } from 'fw';

import { turnStatementSpansOn } from './active-traces.ts';
import { setStatementError, statementAttributes } from './statement-spans.ts';
import {
  type RequestTrace,
  readTraceparent,
  type Tracing,
  type TracingOptions,
} from './tracing.ts';

/** How long spans are collected before they are sent. */
const SEND_INTERVAL_MS = 1_000;

/** How long the shutdown waits for the collector. */
const CLOSE_MS = 2_000;

/**
 * Sends the spans of sampled requests by OTLP over HTTP, in JSON. The client decides with `traceparent`
 * whether a request is sampled; without the header, every request is: the edge adds one, and without an
 * edge, the trace begins here.
 */
export function createTracing({ service, endpoint }: TracingOptions): Tracing {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: CLOSE_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: SEND_INTERVAL_MS })],
  });
  const tracer = provider.getTracer('@fw/service');

  const beginClientSpan: BeginClientSpan = (parent, name, attributes) =>
    tracer.startSpan(
      name,
      { kind: SpanKind.CLIENT, attributes },
      trace.setSpan(ROOT_CONTEXT, parent),
    );

  turnStatementSpansOn();
  return {
    begin(ctx) {
      const attributes = { 'http.request.method': ctx.method, 'url.path': ctx.path };
      const span = tracer.startSpan(
        ctx.method,
        { kind: SpanKind.SERVER, attributes },
        parentOf(ctx),
      );
      return describe(ctx.method, span, beginClientSpan);
    },
    async close() {
      await Promise.race([
        provider.shutdown().catch(() => {}),
        sleep(CLOSE_MS, undefined, { ref: false }),
      ]);
    },
  };
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

type BeginClientSpan = (parent: Span, name: string, attributes: Attributes) => Span;

function describe(method: string, span: Span, beginClientSpan: BeginClientSpan): RequestTrace {
  return {
    traceId: span.spanContext().traceId,
    call(target) {
      const call = beginClientSpan(span, target.method, callAttributes(target));
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
      const query = beginClientSpan(span, attributes['db.query.summary'], attributes);
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
