/** The trace that a request belongs to, as its client states. */
export interface TraceParent {
  /** The whole header, unchanged. */
  readonly text: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

const TRACEPARENT =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/**
 * Reads `traceparent`; an invalid header is ignored (W3C Trace Context §3.2.2). Later versions may append
 * fields.
 */
export function readTraceparent(header: string | undefined): TraceParent | undefined {
  if (header === undefined) return undefined;
  const [text, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header) ?? [];
  if (text === undefined || traceId === undefined || spanId === undefined) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return { text, traceId, spanId, flags: Number.parseInt(flags ?? '', 16) };
}
