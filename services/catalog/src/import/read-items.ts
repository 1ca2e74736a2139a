import { isUtf8 } from 'node:buffer';

import * as z from 'zod';

import type { Item } from '../item.ts';
import type { NumberedItem } from '../store.ts';

/** A line of the file that contains no valid item, and the reason, without content of the line. */
export interface Rejection {
  readonly line: number;
  readonly reason: string;
}

/** The content of consecutive lines of a file. */
export interface Batch {
  readonly items: readonly NumberedItem[];
  readonly rejections: readonly Rejection[];
}

/** A longer line is rejected; its content is not buffered. */
const MAX_LINE_BYTES = 1024 ** 2;

/** Content without a line break for this long is not a text file, and may have no end. */
const MAX_SKIPPED_BYTES = 64 * MAX_LINE_BYTES;

const MAX_NAME_LENGTH = 200;
const MAX_DESCRIPTION_LENGTH = 4_000;
const MAX_TAGS = 50;

const LINE_FEED = 10;

/** The fields of a line. A message completes the sentence "the field must be …". */
const Fields = z.object({
  id: integer(1),
  name: text(MAX_NAME_LENGTH),
  category: text(MAX_NAME_LENGTH),
  brand: text(MAX_NAME_LENGTH),
  price_cents: integer(0),
  currency: z.string('three capital letters').regex(/^[A-Z]{3}$/, 'three capital letters'),
  description: text(MAX_DESCRIPTION_LENGTH),
  tags: z.custom<readonly string[]>(isTags, `a list of at most ${MAX_TAGS} texts`),
});

function integer(least: number) {
  return z.custom<number>(
    (value) => Number.isSafeInteger(value) && Number(value) >= least,
    `an integer of at least ${least}`,
  );
}

function text(maxLength: number) {
  return z.custom<string>(
    (value) => isText(value, maxLength),
    `a text of at most ${maxLength} characters`,
  );
}

/** Stores cannot contain NUL, and a lone surrogate is not a character. */
function isText(value: unknown, maxLength: number): boolean {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= maxLength &&
    !value.includes('\0') &&
    value.isWellFormed()
  );
}

function isTags(value: unknown): boolean {
  const isTag = (tag: unknown) => isText(tag, MAX_NAME_LENGTH);
  return Array.isArray(value) && value.length <= MAX_TAGS && value.every(isTag);
}

/**
 * Reads items from NDJSON: one JSON object per line, in UTF-8. Blank lines are ignored.
 *
 * @throws {Error} if the first line does not begin with a brace, as in a file of another format
 * @throws {Error} naming the line and its first byte, if there is no line break within 64 MiB
 */
export async function* readItems(chunks: AsyncIterable<Buffer>): AsyncGenerator<Batch> {
  let isNdjson = false;
  let line = 1; // number of the first line that is not read yet
  let offset = 0; // of its first byte
  let head: Buffer = Buffer.alloc(0); // of it, at most one byte more than allowed
  let headBytes = 0;

  function readLines(bytes: Buffer): Batch {
    const items: NumberedItem[] = [];
    const rejections: Rejection[] = [];
    for (const content of splitLines(bytes)) {
      const json = content.toString().trim();
      isNdjson ||= json.startsWith('{');
      if (json !== '') {
        if (!isNdjson) throw new Error('expected NDJSON (one JSON object per line), plain or gzip');
        const item = readItem(content, json);
        if (typeof item === 'string') rejections.push({ line, reason: item });
        else items.push({ line, item });
      }
      line++;
    }
    return { items, rejections };
  }

  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) {
      yield readLines(Buffer.concat([head, chunk.subarray(0, end)]));
      offset += headBytes + end;
      head = Buffer.alloc(0);
      headBytes = 0;
    }
    headBytes += chunk.length - end;
    if (headBytes > MAX_SKIPPED_BYTES) {
      throw new Error(
        `line ${line}, which begins at byte ${offset}, has no line break within ${MAX_SKIPPED_BYTES} bytes`,
      );
    }
    head = Buffer.concat([head, chunk.subarray(end)]).subarray(0, MAX_LINE_BYTES + 1);
  }
  yield readLines(head);
}

function* splitLines(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(LINE_FEED, start);
    const end = found < 0 ? bytes.length : found;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/** The item of a line, or the reason why it has none. */
function readItem(content: Buffer, json: string): Item | string {
  if (content.length > MAX_LINE_BYTES) return `it is longer than ${MAX_LINE_BYTES} bytes`;
  if (!isUtf8(content)) return 'it is not UTF-8';
  const { data, error } = Fields.safeParse(parseJson(json));
  if (data) {
    const { price_cents: priceCents, ...fields } = data;
    return { ...fields, priceCents };
  }
  const [issue] = error.issues;
  const [field] = issue?.path ?? [];
  return field === undefined
    ? 'expected a JSON object'
    : `${String(field)} must be ${issue?.message}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
