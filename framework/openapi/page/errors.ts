import { codeBlock } from './code.ts';
import { type Child, h, statusBadge } from './dom.ts';
import { inline } from './markdown.ts';
import { CODES, SAMPLE, TYPES } from './problem.ts';

const INTRO =
  'Every error response, from every part of the server, is a problem as in ' +
  '[RFC 9457](https://www.rfc-editor.org/rfc/rfc9457). Compare `code`, show `detail`, and keep `requestId` for reports.';

/** The format of every error response, and the meaning of its codes and types. */
export function errorsView(): HTMLElement {
  const sample = codeBlock('application/problem+json', 'example of an error response');
  sample.show(JSON.stringify(SAMPLE, null, 2), true);
  const codes = CODES.map(([status, code, meaning]) =>
    entry(code.toLowerCase().replaceAll('_', '-'), meaning, [
      statusBadge(String(status)),
      ' ',
      h('code', { class: 'name' }, code),
    ]),
  );
  const types = TYPES.map(([type, meaning]) =>
    entry(type.replace(/^.*[#:]/, ''), meaning, [h('code', { class: 'name' }, type)]),
  );
  return h(
    'section',
    { class: 'group', id: 'errors', 'aria-labelledby': 'errors-title' },
    h('div', { class: 'group-head' }, h('h2', { id: 'errors-title' }, 'Errors')),
    h(
      'div',
      { class: 'operation' },
      h(
        'div',
        { class: 'meaning' },
        h('p', {}, ...inline(INTRO)),
        h('h3', { class: 'part' }, 'Codes'),
        h('ul', { class: 'fields' }, ...codes),
        h('h3', { class: 'part' }, 'Types'),
        h('ul', { class: 'fields' }, ...types),
      ),
      h('div', { class: 'usage' }, sample.element),
    ),
  );
}

/** A code or type and its meaning, with an address of its own. */
function entry(name: string, meaning: string, heading: readonly Child[]): HTMLElement {
  return h(
    'li',
    { id: `problem-${name}` },
    h('p', { class: 'field' }, ...heading),
    h('p', { class: 'about' }, meaning),
  );
}
