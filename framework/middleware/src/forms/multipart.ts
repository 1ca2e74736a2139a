import { decodeUtf8, isUtf8Charset, parseMediaType, trimBlanks } from '@fw/core/body';
import { TOKEN } from '@fw/core/extension';
import { BadRequestError, UnsupportedMediaTypeError } from '@fw/errors';

/** One part of a `multipart/form-data` body (RFC 7578). */
export interface Part {
  readonly name: string;
  /** Without it, the part is a field. */
  readonly filename: string | undefined;
  /** The media type without parameters, as the client claims; empty if it claims none. */
  readonly type: string;
  /** The bytes, which must be read to their end before the next part. */
  readonly content: AsyncIterable<Buffer>;
}

/** The size of the pieces in which content is passed on: smaller ones would cost more memory than their bytes. */
const PIECE_BYTES = 16 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** The longest end of a line with a boundary: two hyphens, blanks, and a line break. */
const MAX_PADDING_BYTES = 256;

const LINE_BREAK = '\r\n';

/** @throws {BadRequestError} while reading, if the body is malformed or ends early */
export async function* readParts(
  body: AsyncIterable<Buffer>,
  contentType: string,
): AsyncGenerator<Part> {
  const boundary = parseMediaType(contentType)?.parameters.get('boundary') ?? '';
  if (!/^[ -~]{1,70}$/.test(boundary)) throw malformed();
  const reader = new PartReader(body, boundary);
  for await (const _ of reader.content()); // the preamble
  while (!reader.isClosed) {
    yield { ...readHeaders(await reader.headers()), content: reader.content() };
  }
  for await (const _ of reader.content()); // the epilogue
}

/** Divides a body at its boundaries (RFC 2046 §5.1.1). */
class PartReader {
  /** Whether the last boundary was read. */
  isClosed = false;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #delimiter: Buffer;
  /** What is not passed on yet. A line break precedes every boundary, also one at the start of the body. */
  #buffer = Buffer.from(LINE_BREAK);

  constructor(body: AsyncIterable<Buffer>, boundary: string) {
    this.#chunks = body[Symbol.asyncIterator]();
    this.#delimiter = Buffer.from(`${LINE_BREAK}--${boundary}`);
  }

  /** The bytes before the next boundary, which is read too; of the epilogue, those before the end. */
  async *content(): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#buffer.indexOf(this.#delimiter);
      if (at > 0) yield this.#take(at);
      if (at >= 0) {
        if (await this.#readDelimiter()) return;
        yield this.#take(this.#delimiter.length);
        continue;
      }
      const complete = this.#buffer.length - this.#delimiter.length + 1;
      if (complete >= PIECE_BYTES) yield this.#take(complete);
      if (!(await this.#readMore())) {
        if (!this.isClosed) throw malformed();
        return;
      }
    }
  }

  /** The lines of the headers of a part, with the line break after each. */
  async headers(): Promise<Buffer> {
    for (;;) {
      const end = this.#buffer.indexOf(LINE_BREAK + LINE_BREAK);
      const size = this.#buffer.indexOf(LINE_BREAK) === 0 ? 0 : end + LINE_BREAK.length;
      if (size > MAX_HEADER_BYTES) throw malformed();
      if (end >= 0 || size === 0) {
        const headers = this.#take(size);
        this.#take(LINE_BREAK.length);
        return headers;
      }
      if (this.#buffer.length > MAX_HEADER_BYTES || !(await this.#readMore())) throw malformed();
    }
  }

  /**
   * Reads the boundary at the start of the buffer with the blanks after it. Returns false if the line
   * continues with other characters, so that it is content.
   */
  async #readDelimiter(): Promise<boolean> {
    const start = this.#delimiter.length;
    for (;;) {
      const rest = this.#buffer.toString('latin1', start, start + MAX_PADDING_BYTES);
      const [line, close] = /^(--)?[ \t]*(?=\r\n)/.exec(rest) ?? [];
      if (line !== undefined) {
        if (this.isClosed) throw malformed(); // programs disagree on whether a part may follow
        this.isClosed = close !== undefined;
        // The epilogue may begin with a boundary: it keeps the line break.
        this.#take(start + line.length + (this.isClosed ? 0 : LINE_BREAK.length));
        return true;
      }
      const mayContinue = rest.length < MAX_PADDING_BYTES && /^-?$|^(?:--)?[ \t]*\r?$/.test(rest);
      if (!mayContinue) return false;
      if (!(await this.#readMore())) {
        if (this.isClosed) return false;
        if (!/^--[ \t]*$/.test(rest)) throw malformed();
        this.isClosed = true;
        this.#buffer = Buffer.alloc(0);
        return true;
      }
    }
  }

  async #readMore(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    if (done) return false;
    this.#buffer = Buffer.concat([this.#buffer, value]);
    return true;
  }

  #take(size: number): Buffer {
    const taken = this.#buffer.subarray(0, size);
    this.#buffer = this.#buffer.subarray(size);
    return taken;
  }
}

function malformed(): BadRequestError {
  return new BadRequestError('The multipart form is malformed or ends early');
}

/** The error for a field that is not text in UTF-8, or a part that is encoded. */
function unsupported(): UnsupportedMediaTypeError {
  return new UnsupportedMediaTypeError(
    'The fields of the form must be in UTF-8, and no part encoded',
  );
}

const HEADER = new RegExp(`^(${TOKEN}):(.*)$`, 's');

function readHeaders(bytes: Buffer): Omit<Part, 'content'> {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw malformed();
  const headers = new Map<string, string>();
  for (const line of text.split(LINE_BREAK).slice(0, -1)) {
    const [, name = '', value = ''] = HEADER.exec(line) ?? [];
    const key = name.toLowerCase();
    if (name === '' || /[\r\n\0]/.test(value) || headers.has(key)) throw malformed();
    headers.set(key, trimBlanks(value));
  }
  const parameters = readDisposition(headers.get('content-disposition') ?? '');
  const name = parameters.get('name');
  if (!name) throw new BadRequestError('Each part of the form must have a name');
  const filename = parameters.get('filename');
  const type = headers.get('content-type') ?? '';
  const media = parseMediaType(type);
  if (type !== '' && !media) throw malformed();
  const isField = filename === undefined && media?.type !== 'application/octet-stream';
  const charset = isField ? media?.parameters.get('charset') : undefined;
  const coding = headers.get('content-transfer-encoding') ?? 'binary';
  if (!isUtf8Charset(charset) || !/^(?:7bit|8bit|binary)$/i.test(coding)) throw unsupported();
  return { name, filename: isField ? undefined : (filename ?? ''), type: media?.type ?? '' };
}

const PARAMETER = /;[ \t]*([\w-]+\*?)=(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))[ \t]*/sy;

/** The parameters of `form-data`, of which `name*` replaces `name`. */
function readDisposition(header: string): ReadonlyMap<string, string> {
  const [start = ''] = /^form-data[ \t]*/i.exec(header) ?? [];
  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = start.length;
  while (start !== '' && PARAMETER.lastIndex < header.length) {
    const [, name = '', quoted, token = ''] = PARAMETER.exec(header) ?? [];
    const key = name.toLowerCase();
    if (name === '' || parameters.has(key)) throw malformed();
    parameters.set(key, quoted === undefined ? token : unquote(quoted));
  }
  for (const [key, value] of parameters) {
    if (key.endsWith('*')) parameters.set(key.slice(0, -1), decodeExtended(value));
  }
  return parameters;
}

/** Browsers encode `"`, CR and LF (WHATWG HTML, multipart form data), and no backslash; other programs send `\"`. */
function unquote(text: string): string {
  return text
    .replaceAll('\\"', '"')
    .replace(/%(?:22|0D|0A)/gi, (encoded) => decodeURIComponent(encoded));
}

/** Decodes a value such as `utf-8''caf%C3%A9` (RFC 8187 §3.2). */
function decodeExtended(value: string): string {
  const [, charset, escaped = ''] = /^([^']*)'[^']*'(.*)$/.exec(value) ?? [];
  if (charset === undefined) throw malformed();
  if (!isUtf8Charset(charset)) throw unsupported();
  try {
    return decodeURIComponent(escaped);
  } catch {
    throw malformed();
  }
}
