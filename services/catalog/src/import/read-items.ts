import { readInteger } from '@fw/service';

import type { Item } from '../item.ts';
import { type CsvRecord, createCsvReader } from './csv.ts';
import { FIELDS, type Field, RejectedLineError, readItem } from './item-fields.ts';
import { isBlank, type Line, readLines } from './lines.ts';
import type { NumberedItem, Rejection } from './target.ts';

/** The content of consecutive lines of a file. */
export interface Batch {
  readonly items: readonly NumberedItem[];
  readonly rejections: readonly Rejection[];
}

interface ItemReader {
  read(lines: readonly Line[]): Batch;
  /** Reads the incomplete last record. */
  end(): Batch;
}

/**
 * Reads items from JSON lines, or from comma-separated values with column names in the first line. JSON
 * lines start with a brace.
 *
 * @throws {Error} if the first line of a CSV file lacks a column
 */
export async function* readItems(chunks: AsyncIterable<Buffer>): AsyncGenerator<Batch> {
  let reader: ItemReader | undefined;
  for await (const lines of readLines(chunks)) {
    reader ??= createReader(lines);
    if (reader) yield reader.read(lines);
  }
  const last = reader?.end();
  if (last && last.items.length + last.rejections.length > 0) yield last;
}

/** Detects the format; returns nothing if all lines are blank. */
function createReader(lines: readonly Line[]): ItemReader | undefined {
  const first = lines.find((line) => !isBlank(line));
  if (!first) return undefined;
  const isJson = typeof first.text === 'string' && first.text.trimStart().startsWith('{');
  return isJson ? createJsonReader() : createCsvItemReader();
}

function createJsonReader(): ItemReader {
  return {
    read: (lines) =>
      readEach(
        lines.filter((line) => !isBlank(line)),
        readJsonItem,
      ),
    end: () => ({ items: [], rejections: [] }),
  };
}

function readJsonItem({ text }: Line): Item {
  if (typeof text !== 'string') throw text;
  const value = parseJson(text);
  if (!isObject(value)) throw new RejectedLineError('expected a JSON object');
  return readItem((name) => value[name]);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function createCsvItemReader(): ItemReader {
  const csv = createCsvReader();
  let columns: readonly string[] | undefined;

  function readRecords(records: readonly CsvRecord[]): Batch {
    const [first, ...others] = columns ? [] : records;
    if (first) columns = readColumns(first.fields);
    return readEach(first ? others : records, ({ fields }) => readCsvItem(fields, columns ?? []));
  }

  return {
    read: (lines) => readRecords(csv.read(lines)),
    end: () => readRecords(csv.end()),
  };
}

/** @throws {Error} naming the columns that are missing or repeated */
function readColumns(fields: CsvRecord['fields']): readonly string[] {
  const columns = fields instanceof RejectedLineError ? [] : fields.map((name) => name.trim());
  const missing = FIELDS.filter((name) => !columns.includes(name));
  if (missing.length > 0) {
    throw new Error(
      `expected JSON objects, or a first line with the columns ${FIELDS.join(',')}: ${missing.join(', ')} is missing`,
    );
  }
  const repeated = FIELDS.filter((name) => columns.indexOf(name) !== columns.lastIndexOf(name));
  if (repeated.length > 0) throw new Error(`the first line repeats ${repeated.join(', ')}`);
  return columns;
}

function readCsvItem(fields: CsvRecord['fields'], columns: readonly string[]): Item {
  if (fields instanceof RejectedLineError) throw fields;
  if (fields.length !== columns.length) {
    throw new RejectedLineError(`expected ${columns.length} fields, as in the first line`);
  }
  return readItem((name) => fromText(name, fields[columns.indexOf(name)] ?? ''));
}

function fromText(name: Field, text: string): unknown {
  if (name === 'id' || name === 'price_cents') return readInteger(text) ?? text;
  if (name !== 'tags') return text;
  const tags = text.split(';').map((tag) => tag.trim());
  return tags.filter((tag) => tag !== '');
}

/** Reads an item from each entry; entries without a valid item become rejections. */
function readEach<Entry extends { readonly line: number }>(
  entries: readonly Entry[],
  read: (entry: Entry) => Item,
): Batch {
  const items: NumberedItem[] = [];
  const rejections: Rejection[] = [];
  for (const entry of entries) {
    const { line } = entry;
    try {
      items.push({ line, item: read(entry) });
    } catch (error) {
      if (!(error instanceof RejectedLineError)) throw error;
      rejections.push({ line, reason: error.message });
    }
  }
  return { items, rejections };
}
