import { readFileSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';

const USAGE = 'Usage: node src/generate-items.ts COUNT > FILE';

/** An item as a file contains it. */
interface Row {
  readonly id: number;
  readonly name: string;
  readonly price_cents: number;
}

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

if (import.meta.main) {
  const [count = '', ...others] = process.argv.slice(2);
  if (!/^\d{1,9}$/.test(count) || others.length > 0) {
    console.error(USAGE);
    process.exit(2);
  }
  const lines = generateRows(Number(count)).map(toNdjsonLine);
  pipeline(Readable.from(lines), process.stdout, (error) => {
    if (error) process.exitCode = 1;
  });
}
