/** A response as it was received. */
export interface RawResponse {
  readonly status: number;
  /** By lower-case name; the last one of a repeated header. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** What a connection received so far: complete responses, and the bytes after them. */
export interface Received {
  readonly responses: readonly RawResponse[];
  readonly rest: string;
}

/**
 * Splits `text` into responses (RFC 9112 §6.3). `methods` are those of the requests in their order:
 * a response to HEAD has no body.
 */
export function readResponses(text: string, methods: readonly string[] = []): Received {
  const responses: RawResponse[] = [];
  let rest = text;
  for (;;) {
    const finals = responses.filter(({ status }) => status >= 200).length;
    const next = readResponse(rest, methods[finals] === 'HEAD');
    if (!next) return { responses, rest };
    responses.push(next.response);
    rest = next.rest;
  }
}

function readResponse(text: string, isHead: boolean) {
  const end = text.indexOf('\r\n\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
  if (end === -1 || Number.isNaN(status)) return undefined;
  const headers = readHeaders(text.slice(0, end));
  const after = text.slice(end + 4);
  const hasBody = !isHead && status >= 200 && status !== 204 && status !== 304;
  const body = hasBody ? readBody(after, headers) : { body: '', rest: after };
  return body && { response: { status, headers, body: body.body }, rest: body.rest };
}

function readHeaders(head: string): ReadonlyMap<string, string> {
  const lines = head.split('\r\n').slice(1);
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

/** The body, if it is complete. The tested servers send a length or chunks. */
function readBody(text: string, headers: ReadonlyMap<string, string>) {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(text);
  const length = Number(headers.get('content-length'));
  if (text.length < length) return undefined;
  return { body: text.slice(0, length), rest: text.slice(length) };
}

function readChunks(text: string) {
  let body = '';
  let at = 0;
  for (;;) {
    const [line, digits = ''] = /^([\da-f]+)\r\n/i.exec(text.slice(at, at + 20)) ?? [];
    if (line === undefined) return undefined;
    const size = Number.parseInt(digits, 16);
    const start = at + line.length;
    if (text.length < start + size + 2) return undefined;
    body += text.slice(start, start + size);
    at = start + size + 2;
    if (size === 0) return { body, rest: text.slice(at) };
  }
}
