export interface Request {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as `application/json`, unless `headers` contains another type. */
  readonly body?: string | Buffer;
  readonly isChunked?: boolean;
}

/** What one connection sends, again and again. */
export interface Sequence {
  /** Sent in turn. */
  readonly requests: readonly Request[];
  /** Requests sent at once on each connection. Default 1. */
  readonly pipelining?: number;
  /** One in this number of requests closes its connection. Default: connections stay open. */
  readonly closeEvery?: number;
}

/** What `load.lua` reads: messages that it sends in turn, each after a line with its length. */
export function toMessages({ requests, pipelining = 1, closeEvery = 0 }: Sequence): Buffer {
  let all = requests;
  while (closeEvery > 0 && all.length % closeEvery > 0) all = [...all, ...requests];
  return Buffer.concat(
    all.flatMap((request, index) => {
      const isLast = closeEvery > 0 && (index + 1) % closeEvery === 0;
      const message = Buffer.concat(Array(pipelining).fill(encode(request, isLast)));
      return [Buffer.from(`${message.length}\n`), message];
    }),
  );
}

function encode({ method = 'GET', path, headers, body, isChunked }: Request, isLast: boolean) {
  const length = body && Buffer.byteLength(body);
  const lines = Object.entries({
    Host: '127.0.0.1',
    ...(body && { 'Content-Type': 'application/json' }),
    ...headers,
    ...(body && (isChunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': length })),
    ...(isLast && { Connection: 'close' }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`),
    Buffer.from(isChunked ? `${length?.toString(16)}\r\n${body}\r\n0\r\n\r\n` : (body ?? '')),
  ]);
}
