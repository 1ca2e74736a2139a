/** The trace that a request belongs to, as its client states. */
export interface TraceParent {
  /** The whole header, unchanged. */
  readonly text: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

const TRACEPARENT =
  /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?$/;

/** The length of version 00, which has no further fields. */
const LENGTH = 55;

/**
 * Reads `traceparent`; an invalid header is ignored (W3C Trace Context §3.2.2). Later versions may append
 * fields.
 */
export function readTraceparent(header: string | undefined): TraceParent | undefined {
  if (header === undefined || !TRACEPARENT.test(header)) return undefined;
  if (header.startsWith('00') && header.length > LENGTH) return undefined;
  return {
    text: header,
    traceId: header.slice(3, 35),
    spanId: header.slice(36, 52),
    flags: Number.parseInt(header.slice(53, LENGTH), 16),
  };
}
