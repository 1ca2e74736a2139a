import { isUtf8 } from 'node:buffer';

/** A line contains no valid item. The message is the reason, without content of the line. */
export class RejectedLineError extends Error {}

/** A line of a file without its line break. */
export interface Line {
  /** Its number; the first line is 1. */
  readonly line: number;
  /** The text, or the reason why the line cannot be read. */
  readonly text: string | RejectedLineError;
}

/** A longer line is rejected; its content is not buffered. */
const MAX_LINE_BYTES = 1024 ** 2;

/** Content without a line break for this long is not a text file, and may have no end. */
const MAX_SKIPPED_BYTES = 64 * MAX_LINE_BYTES;

const LINE_FEED = 10;

/**
 * Reads lines of UTF-8, one array per chunk, without a byte order mark.
 *
 * @throws {Error} naming the line and its first byte, if there is no line break within 64 MiB
 */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly Line[]> {
  let next = 1;
  let offset = 0;
  let head: Buffer = Buffer.alloc(0); // of the current line, at most one byte more than allowed
  let headBytes = 0;

  function take(bytes: Buffer): readonly Line[] {
    const texts = splitLines(Buffer.concat([head, bytes]));
    if (offset === 0 && typeof texts[0] === 'string') texts[0] = texts[0].replace(/^\ufeff/, '');
    const lines = texts.map((text, at) => ({ line: next + at, text }));
    next += texts.length;
    offset += headBytes + bytes.length;
    head = Buffer.alloc(0);
    headBytes = 0;
    return lines;
  }

  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) yield take(chunk.subarray(0, end));
    headBytes += chunk.length - end;
    if (headBytes > MAX_SKIPPED_BYTES) {
      throw new Error(
        `line ${next}, which begins at byte ${offset}, has no line break within ${MAX_SKIPPED_BYTES} bytes`,
      );
    }
    head = Buffer.concat([head, chunk.subarray(end)]).subarray(0, MAX_LINE_BYTES + 1);
  }
  if (headBytes > 0) yield take(Buffer.alloc(0));
}

function splitLines(bytes: Buffer): Line['text'][] {
  const texts: Line['text'][] = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(LINE_FEED, start);
    const end = found < 0 ? bytes.length : found;
    texts.push(decode(bytes.subarray(start, end)));
    start = end + 1;
  }
  return texts;
}

function decode(bytes: Buffer): Line['text'] {
  if (bytes.length > MAX_LINE_BYTES) {
    return new RejectedLineError(`it is longer than ${MAX_LINE_BYTES} bytes`);
  }
  return isUtf8(bytes) ? bytes.toString() : new RejectedLineError('it is not UTF-8');
}
