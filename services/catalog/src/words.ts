import type { Item } from './item.ts';

/** Longer words are truncated. */
const MAX_WORD_LENGTH = 64;

/** The number of characters by which names are sorted. */
const MAX_KEY_LENGTH = 200;

/**
 * The words of a text: runs of letters and digits, without case and accents, each word once. Every
 * other character separates words, so a search has no syntax.
 */
export function wordsOf(text: string): readonly string[] {
  return [...new Set(readWords(text))];
}

/** The sort key of a name. Stores compare its bytes, so the order does not depend on a locale. */
export function nameKeyOf(name: string): string {
  return readWords(name).join(' ').slice(0, MAX_KEY_LENGTH).toWellFormed();
}

/** The words that a search finds an item by; may contain a word more than once. */
export function wordsOfItem(item: Item): readonly string[] {
  const { name, brand, category, description, tags } = item;
  return readWords(`${name} ${brand} ${category} ${description} ${tags.join(' ')}`);
}

function readWords(text: string): readonly string[] {
  // Most texts are ASCII; this path takes a third of the time.
  const isAscii = !/[^\0-\x7f]/.test(text);
  const words = isAscii ? text.toLowerCase().match(/[a-z0-9]+/g) : readUnicodeWords(text);
  return (words ?? []).map((word) =>
    word.length > MAX_WORD_LENGTH ? word.slice(0, MAX_WORD_LENGTH).toWellFormed() : word,
  );
}

function readUnicodeWords(text: string): readonly string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}+/gu, '');
  // Upper case first: it has one form where lower case has two, such as "σ" and "ς". Only "ẞ" has two in upper case.
  const words = plain
    .replaceAll('ẞ', 'SS')
    .toUpperCase()
    .match(/[\p{L}\p{N}]+/gu);
  // Each word alone: which "σ" it gets depends on the letters around it.
  return (words ?? []).map((word) => word.toLowerCase());
}
