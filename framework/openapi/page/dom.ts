export type Child = Node | string | undefined | false;

type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/**
 * Creates an element. All elements of the page are created here, with text nodes only, so that no text
 * of a document can become markup.
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : value);
  }
  append(element, children);
  return element;
}

export function append(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (child) parent.appendChild(typeof child === 'string' ? new Text(child) : child);
  }
}

export function button(
  text: string,
  attributes: Attributes,
  onClick: (event: MouseEvent) => void,
): HTMLButtonElement {
  const element = h('button', { type: 'button', ...attributes }, text);
  element.addEventListener('click', onClick);
  return element;
}

/** A label in the colour of an HTTP method. */
export function methodBadge(method: string): HTMLElement {
  return h('span', { class: `method ${method.toLowerCase()}` }, method);
}

/** A label in the colour of a status, which `text` starts with: `404 Not Found`, `2XX`. */
export function statusBadge(text: string): HTMLElement {
  return h('span', { class: `status s${text[0]}` }, text);
}

/** A details element that creates its content when it is first opened, so a schema may contain itself. */
export function lazyDetails(summary: Child, className: string, fill: () => Child): HTMLElement {
  const details = h('details', { class: className }, h('summary', {}, summary));
  details.addEventListener('toggle', () => append(details, [fill()]), { once: true });
  return details;
}

/** Announces a change to screen readers. */
export function announce(text: string): void {
  const place = document.getElementById('announcement');
  if (place) place.textContent = text;
}
