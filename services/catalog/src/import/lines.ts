import { isUtf8 } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';

import { RefusedLineError } from './read-item.ts';

/** A line without its line break, or why it cannot be read. */
export type Line = string | RefusedLineError;

/** A place between two lines of a file. */
export interface Position {
  /** In bytes. */
  readonly offset: number;
  /** The number of the line that begins there; the file's first is 1. */
  readonly line: number;
  /** SHA-256 of all that stands before. */
  readonly digest: string;
}

/** Consecutive whole lines of a file. */
export interface LineBlock {
  /** The number of the first of them. */
  readonly number: number;
  readonly lines: readonly Line[];
  /** Where the file goes on. */
  readonly end: Position;
}

/** A file does not begin as it did when a position in it was written down. */
export class OtherContentError extends Error {}

/** A longer line is refused, and is not kept in memory. */
const MAX_LINE_BYTES = 1024 ** 2;

/** Content that has no line break for so long is not a file of lines, and may have no end. */
const MAX_SKIPPED_BYTES = 64 * MAX_LINE_BYTES;

const LINE_FEED = 10;

/**
 * Reads lines of UTF-8, about one block a chunk. With `from` the lines before it are passed over.
 *
 * @throws {Error} naming the line and its first byte, if there is no line break within 64 MiB
 * @throws {OtherContentError} if what stands before `from` is not what it was
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  from?: Position,
): AsyncGenerator<LineBlock> {
  const hash = createHash('sha256');
  let { offset, line } = from ?? { offset: 0, line: 1 };
  let begun: Buffer[] = []; // of the line that has not ended yet
  let begunBytes = 0;
  let isTooLong = false;

  function take(bytes: Buffer): LineBlock {
    hash.update(bytes);
    const lines = isTooLong ? splitAfterTooLong(bytes) : splitLines(bytes);
    if (offset === 0) lines[0] = withoutByteOrderMark(lines[0] ?? '');
    const number = line;
    offset += isTooLong ? begunBytes + bytes.length : bytes.length;
    line += lines.length;
    begun = [];
    begunBytes = 0;
    isTooLong = false;
    return { number, lines, end: { offset, line, digest: hash.copy().digest('hex') } };
  }

  function keep(tail: Buffer): void {
    begun.push(tail);
    begunBytes += tail.length;
    isTooLong ||= begunBytes > MAX_LINE_BYTES;
    if (begunBytes > MAX_SKIPPED_BYTES) {
      throw new Error(
        `line ${line}, which begins at byte ${offset}, has no line break within ${MAX_SKIPPED_BYTES} bytes`,
      );
    }
    if (!isTooLong) return;
    for (const part of begun) hash.update(part);
    begun = [];
  }

  for await (const chunk of from ? skip(chunks, { to: from, hash }) : chunks) {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) yield take(Buffer.concat([...begun, chunk.subarray(0, end)]));
    if (end < chunk.length) keep(chunk.subarray(end));
  }
  if (begunBytes > 0) yield take(Buffer.concat(begun));
}

/** The bytes behind a position. */
async function* skip(
  chunks: AsyncIterable<Buffer>,
  { to, hash }: { readonly to: Position; readonly hash: Hash },
): AsyncGenerator<Buffer> {
  let left = to.offset;
  for await (const chunk of chunks) {
    const before = chunk.subarray(0, left);
    hash.update(before);
    left -= before.length;
    if (left > 0) continue;
    if (before.length > 0) expectDigest(hash, to);
    if (before.length < chunk.length) yield chunk.subarray(before.length);
  }
  if (left > 0) throw new OtherContentError('the file is shorter than it was');
}

function expectDigest(hash: Hash, { digest }: Position): void {
  if (hash.copy().digest('hex') === digest) return;
  throw new OtherContentError('the file begins in another way than it did');
}

function splitLines(bytes: Buffer): Line[] {
  if (!isUtf8(bytes)) return splitBytes(bytes).map(decode);
  const lines = bytes.toString().split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => (line.length > MAX_LINE_BYTES ? tooLong() : line));
}

function splitAfterTooLong(bytes: Buffer): Line[] {
  const end = bytes.indexOf(LINE_FEED) + 1;
  return [tooLong(), ...(end > 0 && end < bytes.length ? splitLines(bytes.subarray(end)) : [])];
}

function splitBytes(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(LINE_FEED, start);
    const end = found < 0 ? bytes.length : found;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

function decode(bytes: Buffer): Line {
  return isUtf8(bytes) ? bytes.toString() : new RefusedLineError('it is not UTF-8');
}

function tooLong(): RefusedLineError {
  return new RefusedLineError(`it is longer than ${MAX_LINE_BYTES} bytes`);
}

function withoutByteOrderMark(line: Line): Line {
  return typeof line === 'string' ? line.replace(/^\ufeff/, '') : line;
}
