import { readFileSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';

import { FIELDS, type Field } from './import/item-fields.ts';

const USAGE = 'Usage: node src/generate-items.ts COUNT [csv] > FILE';
type Row = Readonly<Record<Field, unknown>> & { readonly price_cents: number };

/** Generates a catalog of any size from the items in `data`; the same rows on every machine. */
export function* generateRows(count: number): Generator<Row> {
  const text = readFileSync(new URL('../data/items.ndjson', import.meta.url), 'utf8');
  const models: Row[] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const random = createRandom(1);
  for (let id = 1; id <= count; id++) {
    const model = models[Math.floor(random() * models.length)];
    if (!model) continue;
    const lot = Math.floor(random() * 1e6).toString(36);
    const price = Math.round(model.price_cents * (0.5 + random()));
    yield { ...model, id, name: `${model.name}, lot ${lot}`, price_cents: price };
  }
}

/** One row as a line of NDJSON. */
export function toNdjsonLine(row: Row): string {
  return `${JSON.stringify(row)}\n`;
}

/** One row as a line of CSV (RFC 4180); tags are separated by `;`. */
export function toCsvLine(row: Row): string {
  const fields = FIELDS.map((name) => {
    const value = row[name];
    const text = Array.isArray(value) ? value.join(';') : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${fields.join(',')}\n`;
}

/** Numbers from 0 to below 1, the same ones for one seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function* lines(count: number, format: string | undefined): Generator<string> {
  if (format === 'csv') yield `${FIELDS.join(',')}\n`;
  const toLine = format === 'csv' ? toCsvLine : toNdjsonLine;
  let block = '';
  for (const row of generateRows(count)) {
    block += toLine(row);
    if (block.length < 65_536) continue;
    yield block;
    block = '';
  }
  yield block;
}

if (import.meta.main) {
  const [count = '', format] = process.argv.slice(2);
  if (!/^\d{1,9}$/.test(count) || (format !== undefined && format !== 'csv')) {
    console.error(USAGE);
    process.exit(2);
  }
  pipeline(Readable.from(lines(Number(count), format)), process.stdout, (error) => {
    if (error) process.exitCode = 1;
  });
}
