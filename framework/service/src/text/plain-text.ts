import * as z from 'zod';

/** Text without NUL, which PostgreSQL cannot store. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the character to exclude
const PLAIN = /^[^\x00]*$/;

/**
 * Whether `text` has at most `most` characters. Counts code points, as JSON Schema does: an emoji is one
 * character, but two UTF-16 units.
 */
export function hasAtMost(text: string, most: number): boolean {
  return text.length <= most || (text.length <= 2 * most && [...text].length <= most);
}

/** A schema of text with `min` to `max` characters and without NUL; the document has the same limits. */
export function plainText({ min = 0, max }: { readonly min?: 0 | 1; readonly max: number }) {
  return z
    .string()
    .refine((text) => text.length >= min, { error: 'Expected some text', abort: true })
    .regex(PLAIN, 'Expected text without NUL')
    .refine((text) => hasAtMost(text, max), `Too long: expected at most ${max} characters`)
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max });
}
