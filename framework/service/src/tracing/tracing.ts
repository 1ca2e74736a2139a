import { AsyncLocalStorage } from 'node:async_hooks';

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
  /** Begins the span of a database statement. */
  beginStatement(statement: TracedStatement): EndStatement;
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

/** A database, as its spans describe it. */
export interface Database {
  readonly system: 'postgresql' | 'sqlite';
  /** The name of the database in its server. */
  readonly namespace?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/** A statement of a request; its values are never part of a span. */
export interface TracedStatement {
  readonly database: Database;
  /** SQL with placeholders. */
  readonly text: string;
  /** The number of calls that the statement serves: each of their requests has a span of it. */
  readonly batchSize: number;
}

/** Ends the spans of a statement. */
export type EndStatement = (error?: unknown) => void;

const TRACEPARENT =
  /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?$/;

/** The length of version 00, which has no further fields. */
const LENGTH = 55;

/**
 * Reads `traceparent`; an invalid header is ignored (W3C Trace Context §3.2.2). Later versions may append
 * fields.
 */
export function readTraceparent(header: string | undefined) {
  if (header === undefined || !TRACEPARENT.test(header)) return undefined;
  if (header.startsWith('00') && header.length > LENGTH) return undefined;
  return {
    traceId: header.slice(3, 35),
    spanId: header.slice(36, 52),
    flags: Number.parseInt(header.slice(53, LENGTH), 16),
  };
}

/** The scheme of the connection: `http` behind a proxy that terminates TLS. Costs less than `ctx.protocol`. */
export function schemeOf(ctx: Context): 'http' | 'https' {
  return 'encrypted' in ctx.raw.req.socket ? 'https' : 'http';
}

/** The traces of the requests for which the current code runs: several if their statements are combined. */
type Traces = readonly RequestTrace[];

const NONE: Traces = [];
let active: AsyncLocalStorage<Traces> | undefined;

/** Makes database statements spans. SQLite databases that are already open get none. */
export function turnStatementSpansOn(): void {
  active ??= new AsyncLocalStorage();
}

/** Whether statements are spans. */
export function hasStatementSpans(): boolean {
  return active !== undefined;
}

/** The traces of the current requests; empty outside of requests. */
export function activeTraces(): Traces {
  return active?.getStore() ?? NONE;
}

/** Runs `work` with the traces of all `calls`: each of them gets a span of each statement. */
export function runWithTraces<T>(calls: readonly { readonly traces: Traces }[], work: () => T): T {
  if (!active) return work();
  const traces = calls.flatMap((call) => call.traces);
  return active.run(traces, work);
}

/** Begins a span of a statement in each current request; returns a function that ends them. */
export function beginStatement(database: Database, text: string): EndStatement | undefined {
  const traces = activeTraces();
  if (traces.length === 0) return undefined;
  const statement = { database, text, batchSize: traces.length };
  const ends = [...new Set(traces)].map((trace) => trace.beginStatement(statement));
  return (error) => {
    for (const end of ends) end(error);
  };
}
