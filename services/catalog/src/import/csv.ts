import { CsvError, parse } from 'csv-parse/sync';

import { RejectedLineError } from './item-fields.ts';
import { isBlank, type Line } from './lines.ts';

/** The fields of one record, or the reason why it cannot be read, and the line where it starts. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[] | RejectedLineError;
}

export interface CsvReader {
  /** Reads the complete records; the lines of an incomplete last record are read with the next call. */
  read(lines: readonly Line[]): readonly CsvRecord[];
  /** Reads the lines of the incomplete last record. */
  end(): readonly CsvRecord[];
}

/** A quoted field that spans more lines or characters counts as not closed. */
const MAX_RECORD_LINES = 200;
const MAX_RECORD_LENGTH = 65_536;

const OPTIONS = { record_delimiter: ['\r\n', '\n'], relax_column_count: true };

/** Reads comma-separated values (RFC 4180). An invalid record never affects the records after it. */
export function createCsvReader(): CsvReader {
  let pending: readonly Line[] = [];

  function read(lines: readonly Line[]): readonly CsvRecord[] {
    const { groups, rest } = groupByRecord([...pending, ...lines]);
    pending = rest;
    return readGroups(groups);
  }

  function end(): readonly CsvRecord[] {
    const [first, ...others] = pending;
    if (!first) return [];
    pending = [];
    return [...readGroups([[first]]), ...read(others), ...end()];
  }

  return { read, end };
}

/** Splits lines into those of each record; the last record may be incomplete. */
function groupByRecord(lines: readonly Line[]) {
  const groups: (readonly Line[])[] = [];
  let start = 0;
  while (start < lines.length) {
    const size = sizeOfRecord(lines, start);
    if (size === undefined) break;
    groups.push(lines.slice(start, start + size));
    start += size;
  }
  return { groups, rest: lines.slice(start) };
}

/**
 * The number of lines of the record that starts at `start`: inside a quoted field, a line break is text.
 * 1 if the record is invalid; `undefined` if it needs more lines.
 */
function sizeOfRecord(lines: readonly Line[], start: number): number | undefined {
  let text = '';
  for (let size = 1; size <= MAX_RECORD_LINES && text.length <= MAX_RECORD_LENGTH; size++) {
    const line = lines[start + size - 1];
    if (!line) return undefined;
    if (typeof line.text !== 'string') return 1;
    text = size === 1 ? line.text : `${text}\n${line.text}`;
    if (countQuotes(text) % 2 === 0) return size === 1 || reasonOf(text) === undefined ? size : 1;
    if (size === 1 && reasonOf(text) !== NOT_CLOSED) return 1;
  }
  return 1;
}

function countQuotes(text: string): number {
  return text.split('"').length - 1;
}

function readGroups(groups: readonly (readonly Line[])[]): readonly CsvRecord[] {
  const lines = groups.flatMap(joinLines);
  const parsed = parseRecords(lines.flatMap(({ text }) => (typeof text === 'string' ? text : [])));
  let at = 0;
  return lines.map(({ line, text }) => ({
    line,
    fields: typeof text === 'string' ? (parsed[at++] ?? []) : text,
  }));
}

/** One line with the text of a record; none if the record is blank. */
function joinLines(group: readonly Line[]): readonly Line[] {
  const [first] = group;
  if (!first || group.every(isBlank)) return [];
  if (typeof first.text !== 'string') return [first];
  return [{ line: first.line, text: group.map((line) => line.text).join('\n') }];
}

/** Parses all records in one call; only if that fails, finds the invalid ones by bisection. */
function parseRecords(texts: readonly string[]): readonly CsvRecord['fields'][] {
  if (texts.length === 0) return [];
  try {
    return parse(`${texts.join('\n')}\n`, OPTIONS);
  } catch (error) {
    if (texts.length === 1) return [new RejectedLineError(describe(error))];
    const half = texts.length >> 1;
    return [...parseRecords(texts.slice(0, half)), ...parseRecords(texts.slice(half))];
  }
}

/** The reason why a record is invalid; `undefined` if it is valid. */
function reasonOf(text: string): string | undefined {
  const [fields] = parseRecords([text]);
  return fields instanceof RejectedLineError ? fields.message : undefined;
}

const NOT_CLOSED = 'a quote is not closed';

function describe(error: unknown): string {
  if (!(error instanceof CsvError)) throw error;
  if (error.code === 'INVALID_OPENING_QUOTE') return 'a field that contains a quote must be quoted';
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return NOT_CLOSED;
  return 'a closing quote must be at the end of its field';
}
