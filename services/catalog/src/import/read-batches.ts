import { readInteger } from '@fw/service';

import { type CsvRecord, createCsvReader } from './csv.ts';
import { type Line, type LineBlock, type Position, readLines } from './lines.ts';
import { FIELDS, type Field, type ReadField, RefusedLineError, readItem } from './read-item.ts';
import type { NumberedItem, Refusal } from './target.ts';

/** Where a file goes on, and how it is read there. */
export interface ReadState extends Position {
  /** The columns of a CSV file in their order; a file of JSON lines has none. */
  readonly columns?: readonly string[] | undefined;
}

/** What some consecutive lines of a file hold. */
export interface ReadBatch {
  readonly items: readonly NumberedItem[];
  readonly refusals: readonly Refusal[];
  readonly end: ReadState;
}

/**
 * Reads items from a file of JSON lines, or of comma-separated values with a line of column names:
 * a file of JSON lines begins with a brace.
 *
 * @throws {Error} if the first line of a CSV file lacks a column
 * @throws {OtherContentError} if the file is not the one that `from` was found in
 */
export async function* readBatches(
  chunks: AsyncIterable<Buffer>,
  from?: ReadState,
): AsyncGenerator<ReadBatch> {
  const blocks = readLines(chunks, from);
  let head: LineBlock;
  let first: Line | undefined;
  do {
    const { value: block, done } = await blocks.next();
    if (done) return;
    head = block;
    first = block.lines.find((line) => typeof line !== 'string' || line.trim() !== '');
  } while (first === undefined);
  const all = prepend(head, blocks);
  const isJson = from ? !from.columns : typeof first === 'string' && /^\s*\{/.test(first);
  yield* isJson ? readJson(all) : readCsv(all, from?.columns);
}

async function* readJson(blocks: AsyncIterable<LineBlock>): AsyncGenerator<ReadBatch> {
  for await (const { number, lines, end } of blocks) {
    const batch = createBatch();
    for (const [at, line] of lines.entries()) {
      if (typeof line !== 'string' || line.trim() !== '')
        batch.add(number + at, () => readItem(readJsonLine(line)));
    }
    yield { ...batch, end };
  }
}

function readJsonLine(line: Line): ReadField {
  if (typeof line !== 'string') throw line;
  const value = parse(line);
  if (!isObject(value)) throw new RefusedLineError('expected a JSON object');
  return (name) => value[name];
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function* readCsv(
  blocks: AsyncIterable<LineBlock>,
  known: readonly string[] | undefined,
): AsyncGenerator<ReadBatch> {
  const reader = createCsvReader();
  let columns = known;
  let batch = createBatch();
  const add = (records: readonly CsvRecord[]) => {
    for (const { line, fields } of records) {
      if (columns) addRecord(batch, { line, fields, columns });
      else columns = readColumns(fields);
    }
  };
  let end: Position | undefined;
  for await (const block of blocks) {
    add(reader.read(block.lines, block.number));
    end = block.end;
    // A record that goes on in the next block belongs to it from its beginning.
    if (reader.isInside || !columns) continue;
    yield { ...batch, end: { ...end, columns } };
    batch = createBatch();
  }
  if (!reader.isInside || !end) return;
  add(reader.end());
  if (columns) yield { ...batch, end: { ...end, columns } };
}

/** @throws {Error} naming the columns that are not there, or stand twice */
function readColumns(fields: CsvRecord['fields']): readonly string[] {
  const columns = Array.isArray(fields) ? fields.map((name) => name.trim()) : [];
  const missing = FIELDS.filter((name) => !columns.includes(name));
  if (missing.length > 0) {
    throw new Error(
      `expected JSON objects, or a first line with the columns ${FIELDS.join(',')}: ${missing.join(', ')} is missing`,
    );
  }
  const twice = FIELDS.filter((name) => columns.indexOf(name) !== columns.lastIndexOf(name));
  if (twice.length > 0) throw new Error(`the first line names ${twice.join(', ')} twice`);
  return columns;
}

function addRecord(
  batch: MutableBatch,
  { line, fields, columns }: CsvRecord & { readonly columns: readonly string[] },
): void {
  batch.add(line, () => {
    if (fields instanceof RefusedLineError) throw fields;
    if (fields.length !== columns.length) {
      throw new RefusedLineError(`expected ${columns.length} fields, as in the first line`);
    }
    return readItem((name) => fromText(name, fields[columns.indexOf(name)] ?? ''));
  });
}

function fromText(name: Field, text: string): unknown {
  if (name === 'id' || name === 'price_cents') return readInteger(text) ?? text;
  if (name !== 'tags') return text;
  const tags = text.split(';').map((tag) => tag.trim());
  return tags.filter((tag) => tag !== '');
}

interface MutableBatch {
  readonly items: NumberedItem[];
  readonly refusals: Refusal[];
  add(line: number, read: () => NumberedItem['item']): void;
}

function createBatch(): MutableBatch {
  const items: NumberedItem[] = [];
  const refusals: Refusal[] = [];
  return {
    items,
    refusals,
    add(line, read) {
      try {
        items.push({ line, item: read() });
      } catch (error) {
        if (!(error instanceof RefusedLineError)) throw error;
        refusals.push({ line, reason: error.message });
      }
    },
  };
}

async function* prepend(
  head: LineBlock,
  rest: AsyncIterable<LineBlock>,
): AsyncGenerator<LineBlock> {
  yield head;
  yield* rest;
}
