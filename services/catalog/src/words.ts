import type { Item } from './item.ts';

/** Longer words are told apart by their beginnings. */
const MAX_WORD_LENGTH = 64;

/** As much of a name as decides on its place in a list. */
const MAX_KEY_LENGTH = 200;

/**
 * The words of a text, each once, whatever its case, accents and punctuation: stretches of letters and
 * digits. No character has another meaning, so a search can hold no syntax.
 */
export function wordsOf(text: string): readonly string[] {
  return [...new Set(readWords(text))];
}

/** What names are ordered by, in the order of its bytes: the same in every store and locale. */
export function nameKeyOf(name: string): string {
  return readWords(name).join(' ').slice(0, MAX_KEY_LENGTH).toWellFormed();
}

/** What a search finds an item by; some words more than once. */
export function wordsOfItem(item: Item): readonly string[] {
  const { name, brand, category, description, tags } = item;
  return readWords(`${name} ${brand} ${category} ${description} ${tags.join(' ')}`);
}

function readWords(text: string): readonly string[] {
  // Most texts are; it takes a third of the time.
  const isAscii = !/[^\0-\x7f]/.test(text);
  const words = isAscii ? text.toLowerCase().match(/[a-z0-9]+/g) : readAnyWords(text);
  return (words ?? []).map((word) =>
    word.length > MAX_WORD_LENGTH ? word.slice(0, MAX_WORD_LENGTH).toWellFormed() : word,
  );
}

function readAnyWords(text: string): readonly string[] | null {
  const plain = text.normalize('NFKD').replace(/\p{M}+/gu, '');
  // By way of upper case, which has one form where lower case has two, such as "σ" and "ς".
  return plain
    .toUpperCase()
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
}
