import { expect, test } from 'vitest';

import { markdownTable } from './table.ts';

test('markdownTable aligns the first column left and the others right', () => {
  const table = markdownTable(
    ['hello', 'req/s'],
    [
      ['raw', '100000'],
      ['express', '9'],
    ],
  );

  expect(table.split('\n')).toEqual([
    '| hello   |  req/s |',
    '| ------- | -----: |',
    '| raw     | 100000 |',
    '| express |      9 |',
  ]);
});
