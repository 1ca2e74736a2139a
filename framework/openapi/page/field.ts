import { h } from './dom.ts';
import type { Session } from './request.ts';

let count = 0;

/** An input with its label; `note` describes where the value is sent. */
export function field(label: string, input: HTMLElement, note = ''): HTMLElement {
  input.id = `input-${++count}`;
  return h(
    'div',
    { class: 'input' },
    h('label', { for: input.id }, label, note !== '' && h('small', {}, ` ${note}`)),
    input,
  );
}

/** The input for the credentials of a scheme, in sync with all other inputs for this scheme. */
export function credentialField({ credentials, listeners }: Session, name: string): HTMLElement {
  const input = h('input', {
    type: 'password',
    autocomplete: 'off',
    placeholder: 'Token',
    value: credentials.get(name) ?? '',
  });
  input.addEventListener('input', () => {
    credentials.set(name, input.value);
    for (const listener of listeners) listener();
  });
  listeners.add(() => {
    const value = credentials.get(name) ?? '';
    if (input.value !== value) input.value = value;
  });
  return field(`${name} credentials`, input);
}
