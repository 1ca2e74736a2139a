import { expect, test } from 'vitest';

import { replaceSection } from './report.ts';

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
