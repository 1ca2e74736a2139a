import { median } from '../deploy/local/testing/statistics.ts';
import { parseJson } from '../framework/body-parser/src/parse-json.ts';

const BYTES = 1024 ** 2;
const ROUNDS = 15;

/** Bodies of 1 MiB that are cheap to send, to compare `parseJson` with `JSON.parse`. */
const SHAPES: Readonly<Record<string, string>> = {
  'objects after an escape': repeat('["\\n",', '{}'),
  'arrays after an escape': repeat('["\\n",', '[[]]'),
  'nested arrays': repeat('[', '['.repeat(60) + ']'.repeat(60)),
  'objects after a disguise': repeat('["\\u0041",', '{}'),
  'small objects': repeat('[', '{"id":1,"name":"a"}'),
  'escapes in small objects': repeat('[', '{"id":1,"name":"\\n"}'),
  'escaped keys': repeat('[', '{"\\u006b":0}'),
  'surrogate pairs': repeat('[', '"\\ud83d\\ude00"'),
  'one string': `["${'x'.repeat(BYTES - 4)}"]`,
  'one string of quotes': `["${'\\"'.repeat(BYTES / 2 - 4)}"]`,
  'names in strings': repeat('[', '"__proto__"'),
  'constructor keys': repeat('[{"prototype":1},', '{"constructor":{}}'),
  'arrays before blanks': `[${'[],'.repeat(70)}0${' '.repeat(BYTES - 213)}]`,
  'forbidden names as values': `[${'"constructor",'.repeat(BYTES / 14 - 2)}"prototype"]`,
  'pretty-printed objects': JSON.stringify(
    Array.from({ length: BYTES / 56 }, (_, id) => ({ id, name: 'a', tags: [] })),
    null,
    2,
  ),
  numbers: repeat('[', '1'),
};

console.log('| 1 MiB of | JSON.parse ms | parseJson ms |\n|---|---|---|');
for (const [name, text] of Object.entries(SHAPES)) {
  const bytes = Buffer.from(text);
  const native: number[] = [];
  const checked: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    native.push(timeOf(() => JSON.parse(bytes.toString())));
    checked.push(timeOf(() => parseJson(bytes)));
  }
  console.log(`| ${name} | ${median(native).toFixed(1)} | ${median(checked).toFixed(1)} |`);
}

function repeat(start: string, piece: string): string {
  return `${start}${`${piece},`.repeat((BYTES - start.length) / (piece.length + 1) - 1)}0]`;
}

function timeOf(work: () => unknown): number {
  const startedMs = performance.now();
  work();
  return performance.now() - startedMs;
}
