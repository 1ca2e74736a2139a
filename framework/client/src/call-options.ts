/** The request on whose behalf a call is made; the context of an fw handler has these members. */
export interface CallContext {
  /** Sent as `X-Request-Id`. */
  readonly requestId?: string;
  /** Aborts the call. */
  readonly signal?: AbortSignal;
  /** Reads a header of the request: `traceparent` and `tracestate` are sent on. */
  get?(name: string): string | undefined;
}

/** Header fields of a request, by name. */
export type HeaderFields = Readonly<Record<string, string>>;

/** The options of every call, besides the parameters of its operation. */
export interface CallOptions {
  /** The request that the call belongs to: the source of request id, trace and abort signal. */
  readonly ctx?: CallContext | undefined;
  /** Aborts the call; the call then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of this call, including retries, in milliseconds. Default: that of the client. */
  readonly deadlineMs?: number | undefined;
  /** Makes the change only if the resource still has this ETag (`If-Match`), else the response is 412. */
  readonly ifMatch?: string | undefined;
}
