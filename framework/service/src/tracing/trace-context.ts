/** Where a request belongs, as its sender says. */
export interface TraceParent {
  /** The whole header, as it came. */
  readonly text: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

const TRACEPARENT =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/**
 * Reads `traceparent`; what is not valid does not count (W3C Trace Context §3.2.2). Versions to come
 * may say more at the end.
 */
export function readTraceparent(header: string | undefined): TraceParent | undefined {
  if (header === undefined) return undefined;
  const [text, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header) ?? [];
  if (text === undefined || traceId === undefined || spanId === undefined) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return { text, traceId, spanId, flags: Number.parseInt(flags ?? '', 16) };
}
