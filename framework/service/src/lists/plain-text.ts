import * as z from 'zod';

/** Text without NUL, which neither a JSON body nor a text of PostgreSQL may contain. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the character to exclude
const PLAIN = /^[^\x00]*$/;

/**
 * Whether `text` has at most `most` characters. Counts code points, as people and JSON Schema do: an
 * emoji is one character, but two of JavaScript's units.
 */
export function hasAtMost(text: string, most: number): boolean {
  return text.length <= most || (text.length <= 2 * most && [...text].length <= most);
}

/** Text of `min` to `max` characters without NUL; the document says the same as the check. */
export function plainText({ min = 0, max }: { readonly min?: 0 | 1; readonly max: number }) {
  return z
    .string()
    .refine((text) => text.length >= min, { error: 'Expected some text', abort: true })
    .regex(PLAIN, 'Expected text without NUL')
    .refine((text) => hasAtMost(text, max), `Too long: expected at most ${max} characters`)
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max });
}
