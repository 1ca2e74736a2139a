import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createCsvReader } from './csv.ts';
import { RejectedLineError } from './item-fields.ts';
import type { Line } from './lines.ts';

function toLines(texts: readonly string[], first = 1): readonly Line[] {
  return texts.map((text, at) => ({ line: first + at, text }));
}

function readAll(text: string): readonly (readonly [number, unknown])[] {
  const reader = createCsvReader();
  const texts = text.split('\n');
  if (texts.at(-1) === '') texts.pop();
  const records = [...reader.read(toLines(texts)), ...reader.end()];
  return records.map(({ line, fields }) => [
    line,
    fields instanceof RejectedLineError ? fields.message : fields,
  ]);
}

test.each([
  [
    'a,b\nc,d\n',
    [
      [1, ['a', 'b']],
      [2, ['c', 'd']],
    ],
  ],
  [
    'a,b\r\nc,d\r\n',
    [
      [1, ['a', 'b']],
      [2, ['c', 'd']],
    ],
  ],
  ['a,\n', [[1, ['a', '']]]],
  ['"a,b",c\n', [[1, ['a,b', 'c']]]],
  ['"say ""no""",c\n', [[1, ['say "no"', 'c']]]],
  [
    '"two\nlines",c\nd,e\n',
    [
      [1, ['two\nlines', 'c']],
      [3, ['d', 'e']],
    ],
  ],
  ['"two\r\nlines"\r\n', [[1, ['two\r\nlines']]]],
  [
    'a\n\nb\n',
    [
      [1, ['a']],
      [3, ['b']],
    ],
  ],
  [
    '5" pipe,a\nb,c\n',
    [
      [1, 'a field that contains a quote must be quoted'],
      [2, ['b', 'c']],
    ],
  ],
  [
    '"a"b,c\nd,e\n',
    [
      [1, 'a closing quote must be at the end of its field'],
      [2, ['d', 'e']],
    ],
  ],
  [
    '"a,b\nc,d\n',
    [
      [1, 'a quote is not closed'],
      [2, ['c', 'd']],
    ],
  ],
])('%j is %j', (text, records) => {
  expect(readAll(text)).toEqual(records);
});

test('a quote that is not closed rejects its own line only, in a file of any length', () => {
  const good = Array.from({ length: 1_000 }, (_, at) => `${at},"x, y"`);

  const records = readAll(['"open,a', ...good].join('\n'));

  expect(records).toHaveLength(1_001);
  expect(records[0]).toEqual([1, 'a quote is not closed']);
  expect(records.at(-1)).toEqual([1_001, ['999', 'x, y']]);
});

test('a quote that has no closing quote within 65,536 characters is not closed', () => {
  const reader = createCsvReader();
  const long = 'x'.repeat(40_000);

  const records = reader.read(toLines(['"open', long, long, 'a,b']));

  expect(records.map(({ line }) => line)).toEqual([1, 2, 3, 4]);
  expect(records[0]?.fields).toEqual(new RejectedLineError('a quote is not closed'));
});

test('invalid records between valid ones are rejected one by one', () => {
  const texts = ['a,"b"', '5" pipe,a', '"c', 'd",e', '"f"g,h', '"i', '"j",k', 'l,m'];

  expect(readAll(texts.join('\n'))).toEqual([
    [1, ['a', 'b']],
    [2, 'a field that contains a quote must be quoted'],
    [3, ['c\nd', 'e']],
    [5, 'a closing quote must be at the end of its field'],
    [6, 'a quote is not closed'],
    [7, ['j', 'k']],
    [8, ['l', 'm']],
  ]);
});

test('a record can span several blocks of lines', () => {
  const reader = createCsvReader();

  expect(reader.read(toLines(['a,b', '"c']))).toEqual([{ line: 1, fields: ['a', 'b'] }]);
  expect(reader.read(toLines(['d"', 'e'], 3))).toEqual([
    { line: 2, fields: ['c\nd'] },
    { line: 4, fields: ['e'] },
  ]);
  expect(reader.end()).toEqual([]);
});

test('valid records are what csv-parse reads from the whole file', () => {
  const field = fc.string({ unit: fc.constantFrom('a', 'é', ' ', ',', '"', '\n', '\r', ';') });
  const records = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { minLength: 1 });
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;

  fc.assert(
    fc.property(records, fc.boolean(), (rows, isCrLf) => {
      const lines = rows.map((row) => row.map(quote).join(','));
      const text = lines.map((line) => line + (isCrLf ? '\r\n' : '\n')).join('');

      const expected = parse(text, {
        relax_column_count: true,
        record_delimiter: isCrLf ? '\r\n' : '\n',
      });
      expect(readAll(text).map(([, fields]) => fields)).toEqual(expected);
    }),
  );
});
