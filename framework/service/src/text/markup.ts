const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that is HTML or SVG and is not escaped again. */
export class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The markup as text. */
  toString(): string {
    return this.#text;
  }
}

/** A value in a template: texts and numbers are escaped; `undefined` is empty. */
export type Part = string | number | Markup | readonly Markup[] | undefined;

/**
 * Template tag for HTML and SVG. Escapes every value that is not markup itself, for use in elements and in
 * quoted attributes.
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
