import fc from 'fast-check';
import { expect, test } from 'vitest';

import { nameKeyOf, wordsOf } from './words.ts';

test.each([
  ['Kettle, 1.7 L', ['kettle', '1', '7', 'l']],
  ['the The THE', ['the']],
  ['Crème brûlée', ['creme', 'brulee']],
  ['Straße STRASSE STRAẞE', ['strasse']],
  ['ΟΔΟΣ οδός', ['οδος']],
  ['🅐Σ', ['σ']],
  ['ﬁne ①', ['fine', '1']],
  ['don’t "quote" (me)*', ['don', 't', 'quote', 'me']],
  ['日本語 テスト', ['日本語', 'テスト']],
  ['!?* %_ \\', []],
  ['', []],
])('the words of %j are %j', (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test('a text has the same words in any case', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), (text) => {
      expect(wordsOf(text.toUpperCase())).toEqual(wordsOf(text.toLowerCase().toUpperCase()));
      for (const word of wordsOf(text)) expect(wordsOf(word)).toEqual([word]);
    }),
  );
});

test('name keys ignore case, accents and punctuation', () => {
  expect(nameKeyOf('  Éclair "XL" ')).toBe('eclair xl');
  expect(nameKeyOf('😀')).toBe('');
  expect(nameKeyOf('x'.repeat(300))).toHaveLength(64);
});
