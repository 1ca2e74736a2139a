import type { Context } from 'fw';

declare module '@fw/core' {
  interface State {
    /** The span of this request, if tracing is on. */
    trace?: RequestTrace;
  }
}

/** Sends the spans of a process to a collector. */
export interface Tracing {
  /** Begins the span of a request. */
  begin(ctx: Context): RequestTrace;
  /** Sends the remaining spans, for at most 2 s; never rejects. */
  close(): Promise<void>;
}

/** The span of a request. */
export interface RequestTrace {
  readonly traceId: string;
  /** Begins the span of a call to another service. */
  call(target: { readonly method: string; readonly url: URL }): CallTrace;
  /** `route` is the pattern, or empty if no route matched. */
  end(result: { readonly route: string; readonly status: number }): void;
}

/** The span of a call to another service. */
export interface CallTrace {
  /** The header of the call. */
  readonly traceparent: string;
  /** Ends the span with the status of the response, or with an error if there is none. */
  end(outcome: { readonly status: number } | { readonly error: unknown }): void;
}

export interface TracingOptions {
  /** The service's name. */
  readonly service: string;
  /** The address of the collector, without `/v1/traces` (`OTEL_EXPORTER_OTLP_ENDPOINT`). */
  readonly endpoint: string;
  /** How long spans are collected before they are sent. Default 1 s. */
  readonly intervalMs?: number;
}
