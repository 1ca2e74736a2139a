import type { Item } from '../item.ts';
import type { NumberedItem, Rejection } from '../store.ts';
import { type Line, RejectedLineError, readLines } from './lines.ts';

/** The content of consecutive lines of a file. */
export interface Batch {
  readonly items: readonly NumberedItem[];
  readonly rejections: readonly Rejection[];
}

type Fields = Readonly<Record<string, unknown>>;

const MAX_NAME_LENGTH = 200;
const MAX_DESCRIPTION_LENGTH = 4_000;
const MAX_TAGS = 50;

/**
 * Reads items from NDJSON: one JSON object per line. Blank lines are ignored.
 *
 * @throws {Error} if the first line does not begin with a brace, as in a file of another format
 */
export async function* readItems(chunks: AsyncIterable<Buffer>): AsyncGenerator<Batch> {
  let isNdjson = false;
  for await (const lines of readLines(chunks)) {
    const filled = lines.filter(({ text }) => typeof text !== 'string' || text.trim() !== '');
    const [first] = filled;
    if (!first) continue;
    isNdjson ||= typeof first.text === 'string' && first.text.trimStart().startsWith('{');
    if (!isNdjson) throw new Error('expected NDJSON (one JSON object per line), plain or gzip');
    yield readBatch(filled);
  }
}

/** Reads an item from each line; lines without a valid item become rejections. */
function readBatch(lines: readonly Line[]): Batch {
  const items: NumberedItem[] = [];
  const rejections: Rejection[] = [];
  for (const { line, text } of lines) {
    try {
      items.push({ line, item: readItem(text) });
    } catch (error) {
      if (!(error instanceof RejectedLineError)) throw error;
      rejections.push({ line, reason: error.message });
    }
  }
  return { items, rejections };
}

/** @throws {RejectedLineError} naming the first invalid field */
function readItem(text: Line['text']): Item {
  if (typeof text !== 'string') throw text;
  const fields = parseJson(text);
  if (!isObject(fields)) throw new RejectedLineError('expected a JSON object');
  return {
    id: readInteger(fields, 'id', 1),
    name: readText(fields, 'name', MAX_NAME_LENGTH),
    category: readText(fields, 'category', MAX_NAME_LENGTH),
    brand: readText(fields, 'brand', MAX_NAME_LENGTH),
    priceCents: readInteger(fields, 'price_cents', 0),
    currency: readCurrency(fields),
    description: readText(fields, 'description', MAX_DESCRIPTION_LENGTH),
    tags: readTags(fields),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(name: string, expected: string): RejectedLineError {
  return new RejectedLineError(`${name} must be ${expected}`);
}

function readInteger(fields: Fields, name: string, least: number): number {
  const value = fields[name];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
  throw invalid(name, `an integer of at least ${least}`);
}

function readText(fields: Fields, name: string, maxLength: number): string {
  const value = fields[name];
  if (isText(value, maxLength)) return value;
  throw invalid(name, `a text of at most ${maxLength} characters`);
}

function readCurrency({ currency }: Fields): string {
  if (typeof currency === 'string' && /^[A-Z]{3}$/.test(currency)) return currency;
  throw invalid('currency', 'three capital letters');
}

function readTags({ tags }: Fields): readonly string[] {
  const isTag = (tag: unknown) => isText(tag, MAX_NAME_LENGTH);
  if (Array.isArray(tags) && tags.length <= MAX_TAGS && tags.every(isTag)) return tags;
  throw invalid('tags', `a list of at most ${MAX_TAGS} texts`);
}

/** Stores cannot contain NUL, and a lone surrogate is not a character. */
function isText(value: unknown, maxLength: number): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= maxLength &&
    !value.includes('\0') &&
    value.isWellFormed()
  );
}
