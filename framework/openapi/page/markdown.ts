import { append, type Child, h } from './dom.ts';

/**
 * The part of CommonMark that descriptions use: paragraphs, lists, fenced and inline code, emphasis
 * and links. Everything else, such as tags, is shown as text.
 */
export function markdown(text: string): HTMLElement {
  const blocks = text.trim().split(/\n\s*\n|(?=^```)|(?<=^```[^\n]*\n(?:(?!```)[^\n]*\n)*```)/m);
  return h('div', { class: 'prose' }, ...blocks.map((block) => readBlock(block.trim())));
}

function readBlock(block: string): Child {
  if (block === '') return undefined;
  const fenced = /^```[^\n]*\n([\s\S]*?)\n?```$/.exec(block);
  if (fenced) return h('pre', { tabindex: '0' }, h('code', {}, fenced[1]));
  const heading = /^#{1,6} +(.+)$/.exec(block);
  if (heading) return h('p', { class: 'heading' }, ...inline(heading[1] ?? ''));
  const lines = block.split('\n');
  const isList = lines.every((line) => /^\s*(?:[-*]|\d+\.) /.test(line));
  if (!isList) return h('p', {}, ...inline(block));
  const items = lines.map((line) =>
    h('li', {}, ...inline(line.replace(/^\s*(?:[-*]|\d+\.) /, ''))),
  );
  return h(/^\s*\d/.test(block) ? 'ol' : 'ul', {}, ...items);
}

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

/** Code, emphasis and links in a line of text. */
export function inline(text: string): Child[] {
  const children: Child[] = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, strong, emphasis, label, target = ''] = match;
    children.push(text.slice(at, match.index));
    at = match.index + whole.length;
    if (code) children.push(h('code', {}, code));
    else if (strong) children.push(h('strong', {}, strong));
    else if (emphasis) children.push(h('em', {}, emphasis));
    else children.push(link(label ?? '', target));
  }
  children.push(text.slice(at));
  return children;
}

/** A link if its target is safe; of a `javascript:` target, only the text. */
function link(label: string, target: string): Child {
  if (!/^(?:https?:|mailto:|#|\/(?!\/))/i.test(target)) return label;
  const element = h('a', { href: target, rel: 'noreferrer' });
  append(element, [label]);
  return element;
}
