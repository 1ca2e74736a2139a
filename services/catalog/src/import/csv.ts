import type { Line } from './lines.ts';
import { RefusedLineError } from './read-item.ts';

/** The fields of one record, or why there is none, and the line that it begins in. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[] | RefusedLineError;
}

/** A quoted field may go on for so many lines; else a quote that nobody closed would take in the file. */
const MAX_RECORD_LINES = 200;
const MAX_RECORD_LENGTH = 65_536;

/** Reads records of comma-separated values (RFC 4180) from lines that come in blocks. */
export interface CsvReader {
  /** The records that are whole; a record that goes on in the next block is kept back. */
  read(lines: readonly Line[], number: number): readonly CsvRecord[];
  /** The records of what was kept back, once there are no more lines. */
  end(): readonly CsvRecord[];
  /** Whether a record is kept back. */
  readonly isInside: boolean;
}

export function createCsvReader(): CsvReader {
  let waiting: readonly Line[] = [];
  let waitingNumber = 1;

  function readAll(lines: readonly Line[], { number, isEnd }: { number: number; isEnd: boolean }) {
    const records: CsvRecord[] = [];
    for (let at = 0; at < lines.length; ) {
      const { fields, size } = readRecord(lines, { at, isEnd });
      if (size === 0) {
        waiting = lines.slice(at);
        waitingNumber = number + at;
        return records;
      }
      if (fields) records.push({ line: number + at, fields });
      at += size;
    }
    waiting = [];
    return records;
  }

  return {
    read(lines, number) {
      if (waiting.length === 0) return readAll(lines, { number, isEnd: false });
      return readAll([...waiting, ...lines], { number: waitingNumber, isEnd: false });
    },
    end() {
      return readAll(waiting, { number: waitingNumber, isEnd: true });
    },
    get isInside() {
      return waiting.length > 0;
    },
  };
}

/** The record that begins in the line at `at`, of `size` lines; 0 if it needs lines that are not there. */
function readRecord(
  lines: readonly Line[],
  { at, isEnd }: { readonly at: number; readonly isEnd: boolean },
): { readonly fields?: CsvRecord['fields']; readonly size: number } {
  let text = '';
  for (let size = 1; size <= MAX_RECORD_LINES && text.length <= MAX_RECORD_LENGTH; size++) {
    const line = lines[at + size - 1];
    if (line === undefined && !isEnd) return { size: 0 };
    if (line === undefined) break;
    if (typeof line !== 'string') {
      if (size === 1) return { fields: line, size };
      break;
    }
    text = size === 1 ? line : `${text}\n${line}`;
    const fields = splitRecord(text.endsWith('\r') ? text.slice(0, -1) : text);
    if (fields instanceof RefusedLineError && size > 1) break;
    if (fields) return isBlank(fields) ? { size } : { fields, size };
  }
  // Whatever the quote was meant to be, the lines after it may be good ones.
  return { fields: new RefusedLineError('a quote is opened and not closed'), size: 1 };
}

function isBlank(fields: CsvRecord['fields']): boolean {
  return !(fields instanceof RefusedLineError) && fields.length === 1 && fields[0] === '';
}

/** The fields of a record, or `undefined` if it ends inside a quoted one. */
function splitRecord(text: string): readonly string[] | RefusedLineError | undefined {
  if (!text.includes('"')) return text.split(',');
  const fields: string[] = [];
  for (let start = 0; ; ) {
    const isQuoted = text[start] === '"';
    const end = isQuoted ? endOfQuoted(text, start) : endOfPlain(text, start);
    if (end === undefined) return undefined;
    const field = text.slice(start, end);
    if (!isQuoted && field.includes('"')) {
      return new RefusedLineError('a field that holds a quote must be quoted');
    }
    fields.push(isQuoted ? field.slice(1, -1).replaceAll('""', '"') : field);
    if (end === text.length) return fields;
    if (text[end] !== ',') return new RefusedLineError('a quote must stand at the end of a field');
    start = end + 1;
  }
}

function endOfPlain(text: string, start: number): number {
  const comma = text.indexOf(',', start);
  return comma < 0 ? text.length : comma;
}

function endOfQuoted(text: string, start: number): number | undefined {
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at < 0) return undefined;
    if (text[at + 1] !== '"') return at + 1;
  }
}
