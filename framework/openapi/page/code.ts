import { announce, append, button, type Child, h } from './dom.ts';

const TOKEN =
  /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;
const MAX_COLOURED = 200_000;

/** JSON in colours. Long texts stay plain, because each token becomes an element. */
export function colourJson(text: string): Child[] {
  if (text.length > MAX_COLOURED) return [text];
  const children: Child[] = [];
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [, string, colon, word] = match;
    const token = string ?? match[0];
    children.push(text.slice(at, match.index));
    children.push(
      h('span', { class: string ? (colon ? 'key' : 'str') : word ? 'word' : 'num' }, token),
    );
    at = match.index + token.length;
  }
  children.push(text.slice(at));
  return children;
}

/** A block of code with a heading and a button to copy it. */
export function codeBlock(
  heading: Child,
  label: string,
): { readonly element: HTMLElement; show(text: string, isJson?: boolean): void } {
  const code = h('code');
  const copy = button('Copy', { class: 'copy', 'aria-label': `Copy ${label}` }, async () => {
    await navigator.clipboard.writeText(code.textContent);
    announce('Copied');
    copy.textContent = 'Copied';
    setTimeout(() => {
      copy.textContent = 'Copy';
    }, 1500);
  });
  const element = h(
    'div',
    { class: 'code' },
    h('div', { class: 'code-head' }, heading, copy),
    h('pre', { tabindex: '0', role: 'region', 'aria-label': label }, code),
  );
  return {
    element,
    show(text, isJson = false) {
      code.replaceChildren();
      append(code, isJson ? colourJson(text) : [text]);
    },
  };
}

/** A group of buttons, one of which is pressed. */
export function choice(
  label: string,
  names: readonly string[],
  onChoose: (name: string) => void,
): HTMLElement {
  const buttons = names.map((name) =>
    button(name, { class: 'choice', 'aria-pressed': String(name === names[0]) }, () => {
      for (const each of buttons) {
        each.setAttribute('aria-pressed', String(each.textContent === name));
      }
      onChoose(name);
    }),
  );
  return h('div', { role: 'group', 'aria-label': label, class: 'choices' }, ...buttons);
}
