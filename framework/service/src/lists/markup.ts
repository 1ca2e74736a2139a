const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that is HTML or SVG already, and stands in a page as it is. */
export class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** What may stand in a template: text and numbers are escaped, nothing is left out. */
export type Part = string | number | Markup | readonly Markup[] | undefined;

/**
 * Writes HTML or SVG. Whatever is put in is text to the reader, in an element as in a quoted
 * attribute, unless it is markup itself.
 *
 * ```ts
 * markup`<p>${name}</p>`
 * ```
 */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(String.raw({ raw: strings }, ...parts.map(write)));
}

function write(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.toString();
  if (typeof part === 'object') return part.join('');
  return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
