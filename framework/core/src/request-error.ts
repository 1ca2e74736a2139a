/**
 * A refusal by the core itself. Other packages throw richer classes; whoever answers errors reads
 * `status`, `expose` and `headers` of either by name.
 */
export class RequestError extends Error {
  override readonly name: string = 'RequestError';
  readonly status: number;
  /** Whether the client may read `message`: below 500 only. */
  readonly expose: boolean;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(status: number, message: string, headers?: Readonly<Record<string, string>>) {
    super(message);
    this.status = status;
    this.expose = status < 500;
    this.headers = headers;
  }
}
