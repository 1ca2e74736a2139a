import type { Context } from 'fw';

declare module '@fw/core' {
  interface State {
    /** Where spans are sent anywhere: the one of this request. */
    trace?: RequestTrace;
  }
}

/** Sends the spans of a process to a collector. */
export interface Tracing {
  /** Begins the span of a request. */
  begin(ctx: Context): RequestTrace;
  /** Sends what has not been sent yet; takes no longer than two seconds, and never rejects. */
  close(): Promise<void>;
}

/** The span of a request. */
export interface RequestTrace {
  readonly traceId: string;
  /** Begins the span of a call that the request needs. */
  call(target: { readonly method: string; readonly url: URL }): CallTrace;
  /** `route` is the pattern, empty where none matched. */
  end(answer: { readonly route: string; readonly status: number }): void;
}

/** The span of a call to another service. */
export interface CallTrace {
  /** What that service is told. */
  readonly traceparent: string;
  /** A call ends by the status of its answer, or for want of one by an error. */
  end(outcome: { readonly status: number } | { readonly error: unknown }): void;
}

export interface TracingOptions {
  /** The service's name. */
  readonly service: string;
  /** The collector, without the `/v1/traces` that OTLP adds (`OTEL_EXPORTER_OTLP_ENDPOINT`). */
  readonly endpoint: string;
  /** How long spans are kept to be sent together. Default 1 s. */
  readonly intervalMs?: number;
}
