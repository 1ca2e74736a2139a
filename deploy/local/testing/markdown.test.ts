import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { expectSection, markdownTable, replaceSection } from './markdown.ts';

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

test('replaceSection replaces only the text between the marks', () => {
  const text = 'before\n<!-- router -->\nold\n<!-- /router -->\nafter';

  expect(replaceSection(text, 'router', 'new')).toBe(
    'before\n<!-- router -->\n\nnew\n\n<!-- /router -->\nafter',
  );
});

test('replaceSection rejects a text without the marks', () => {
  expect(() => replaceSection('text', 'router', 'new')).toThrow(
    'Cannot find <!-- router --> and <!-- /router -->',
  );
});

test('expectSection rejects a section that differs from the file', ({ onTestFinished }) => {
  const folder = mkdtempSync(join(tmpdir(), 'fw-section-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'README.md');
  writeFileSync(file, replaceSection('<!-- a -->\n<!-- /a -->', 'a', 'new'));

  expect(() => expectSection(file, 'a', 'new')).not.toThrow();
  expect(() => expectSection(file, 'a', 'other')).toThrow('is stale: run this test with UPDATE=1');
});
